import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { examples } from '../command.js';
import { CommandFault, EXIT } from '../exit.js';
import { type Io, say } from '../io.js';
import { writeRows, writeValue } from '../output/output.js';
import { dataFolder, findSettings, meansDemo, type Place } from '../place.js';

export function define(program: Command, io: Io): void {
  const command = program
    .command('migrate')
    .description('Bring both databases to the schema of this version; safe to repeat')
    .option('--json', 'print the files applied as JSON')
    .action(async (options: { json?: boolean }) => {
      const { migrateFile } = await import('../../engines/sqlite/migrate.js');
      const place = findMeant(io);
      const now = new Date(io.now()).toISOString();
      const applied = [
        ...migrateFile(place.inboxFile, 'inbox', now).map(file => ({ database: 'inbox.db', file })),
        ...migrateFile(place.mirrorFile, 'mirror', now).map(file => ({ database: 'mirror.db', file })),
      ];
      if (options.json) return await writeValue(io, applied);
      if (applied.length > 0) await writeRows(io, 'table', ['database', 'file'], applied);
      say(io, `${place.folder}: ${applied.length > 0 ? 'migrated' : 'both databases are up to date'}.`);
      return undefined;
    });
  examples(command, [
    'carbon-mirror migrate',
    'DATA_DIR=/var/lib/carbon-mirror carbon-mirror migrate --json',
  ]);
}

/** An empty mirror that nobody asked for by a setting would hide a demo from every later command. */
function findMeant(io: Io): Place {
  const place = findSettings(io);
  const isNamed = !meansDemo(io.env) || Boolean(io.env['DATA_DIR']);
  if (place.demo || isNamed || existsSync(place.mirrorFile)) return place;
  throw new CommandFault(
    EXIT.usage,
    `There is no mirror in ${dataFolder(io.env)} and no demo, and no setting names one to make.`,
    'Set DATA_DIR or the settings of the registry; with none of them "carbon-mirror up" makes a demo.',
  );
}
