import { command } from '../command.js';
import { type Context, type MirrorLocation } from '../context.js';
import { usageFault } from '../exit.js';
import { dataFolder, findRegistrySettings } from '../mirror-location.js';

export const MIGRATE = command({
  says: 'Bring the databases to the schema of this version; safe to repeat',
  prints: { json: 'print the files applied as JSON' },
  examples: ['carbon-mirror migrate', 'DATA_DIR=/var/lib/carbon-mirror carbon-mirror migrate --json'],
  run: async context => {
    const { engine } = findMeant(context);
    const applied = await engine.migrate(context.io.now());
    await context.tell(
      applied,
      ...applied.map(({ database, file }) => `${database}: ${file}`),
      `${engine.location}: ${applied.length > 0 ? 'migrated' : 'every database is up to date'}.`,
    );
  },
});

/** An empty mirror that nobody asked for by a setting would hide a demo from every later command. */
function findMeant({ io: { env }, settings }: Context): MirrorLocation {
  const location = settings();
  const isNamed = findRegistrySettings(env).length > 0 || Boolean(env['DATA_DIR']);
  if (location.demo || isNamed || location.engine.findMissing() === null) return location;
  throw usageFault(
    `There is no mirror in ${dataFolder(env)} and no demo, and no setting names one to make.`,
    'Set DATA_DIR or the settings of the registry; "carbon-mirror up --demo" makes a demo.',
  );
}
