import { defineCommand } from '../define-command.js';
import { type CommandContext, type MirrorContext } from '../context.js';
import { createUsageError } from '../command-error.js';
import { getDataFolder, findRegistrySettings } from '../mirror-location.js';

export const MIGRATE = defineCommand({
  summary: 'Update the database schemas to this version',
  details: 'Safe to repeat.',
  formats: { json: 'print the applied files as JSON' },
  examples: ['carbon-mirror migrate', 'DATA_DIR=/var/lib/carbon-mirror carbon-mirror migrate --json'],
  run: async context => {
    const { engine } = findMirrorToMigrate(context);
    const applied = await engine.migrate(context.io.now());
    await context.printResult(
      applied,
      ...applied.map(({ database, file }) => `${database}: ${file}`),
      `${engine.location}: ${applied.length > 0 ? 'migrated' : 'all databases are up to date'}.`,
    );
  },
});

/**
 * Returns the mirror to migrate: one that exists, or one that the settings say to create. Throws a usage error if there is no mirror and no
 * demo, and no setting says where to create a mirror.
 */
function findMirrorToMigrate({ io: { env }, findMirror }: CommandContext): MirrorContext {
  const location = findMirror();
  const isNamed = findRegistrySettings(env).length > 0 || Boolean(env['DATA_DIR']);
  /** An empty mirror in the default folder would hide a demo from every later command. */
  if (location.isDemo || isNamed || location.engine.findMissingFile() === null) return location;
  throw createUsageError(
    `There is no mirror and no demo in ${getDataFolder(env)}, and no setting says where to create one.`,
    'Set DATA_DIR or the registry settings, or run "carbon-mirror up --demo" to create a demo.',
  );
}
