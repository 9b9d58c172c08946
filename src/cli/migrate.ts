import type { Command } from 'commander';
import { examples } from './command.js';
import type { Io } from './io.js';
import { writeRows, writeValue } from './output.js';
import { dataFolder, placeAt } from './place.js';

export function define(program: Command, io: Io): void {
  const command = program
    .command('migrate')
    .description('Bring both databases to the schema of this version; safe to repeat')
    .option('--json', 'print the files applied as JSON')
    .action(async (options: { json?: boolean }) => {
      const { migrateFile } = await import('../database/migrate.js');
      const place = placeAt(dataFolder(io.env), io.env, false);
      const now = new Date(io.now()).toISOString();
      const applied = [
        ...migrateFile(place.inboxFile, 'inbox', now).map(file => ({ database: 'inbox.db', file })),
        ...migrateFile(place.mirrorFile, 'mirror', now).map(file => ({ database: 'mirror.db', file })),
      ];
      if (options.json) return await writeValue(io, applied);
      if (applied.length > 0) await writeRows(io, 'table', ['database', 'file'], applied);
      io.stderr.write(applied.length > 0 ? 'Migrated.\n' : 'Both databases are up to date.\n');
      return undefined;
    });
  examples(command, [
    'carbon-mirror migrate',
    'DATA_DIR=/var/lib/carbon-mirror carbon-mirror migrate --json',
  ]);
}
