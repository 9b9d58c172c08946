import { readStoreSettings } from '../../../app/config/read-settings.js';
import { openEngine } from '../../../store/open-engine.js';
import { defineCommand } from '../../define-command.js';
import { createNotFoundError, createUsageError } from '../../command-error.js';
import { defineChoice } from '../../options.js';

export const MOVE = defineCommand({
  summary: 'Move the mirror from files to PostgreSQL',
  details:
    'Stop every process of carbon-mirror first. Copies everything in DATA_DIR into an empty PostgreSQL database, then compares both.',
  options: { to: defineChoice('engine', 'the target database', ['postgres']) },
  examples: ['MIRROR_DATABASE_URL=postgres://HOST/mirror carbon-mirror move --to postgres'],
  run: async ({ io, printNotice }, { to }) => {
    const store = readStoreSettings(io.env);
    if (to === undefined || store.database === null)
      throw createUsageError('Expected --to postgres, with MIRROR_DATABASE_URL set to the database.');
    const engine = openEngine({ ...store, database: null });
    const missing = engine.findMissingFile();
    if (missing !== null || engine.backup === null)
      throw createNotFoundError(`There is no mirror in ${store.dataDir}: ${missing} is missing.`);
    await engine.backup.assertNotOpen();
    const moved = await engine.backup.moveTo(store.database, io.now());
    printNotice(
      `Moved ${moved.rows} rows and ${moved.certificates} certificates, and compared each. ${store.dataDir} is unchanged; keep it until you trust the new database.`,
    );
  },
});
