import type { Command } from 'commander';
import { examples } from '../command.js';
import { CommandFault, EXIT } from '../exit.js';
import { type Io, say } from '../io.js';
import { writeRows, writeValue } from '../output/output.js';
import { dataFolder, findSettings, meansDemo } from '../place/find-place.js';
import type { Place } from '../place/place.js';

export function define(program: Command, io: Io): void {
  const command = program
    .command('migrate')
    .description('Bring both databases to the schema of this version; safe to repeat')
    .option('--json', 'print the files applied as JSON')
    .action(async (options: { json?: boolean }) => {
      const { engine } = findMeant(io);
      const applied = (await engine.migrate(io.now())).map(({ database, file }) => ({ database, file }));
      if (options.json) await writeValue(io, applied);
      else if (applied.length > 0) await writeRows(io, 'table', ['database', 'file'], applied);
      say(io, `${engine.place}: ${applied.length > 0 ? 'migrated' : 'both databases are up to date'}.`);
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
  if (place.demo || isNamed || place.engine.findMissing() === null) return place;
  throw new CommandFault(
    EXIT.usage,
    `There is no mirror in ${dataFolder(io.env)} and no demo, and no setting names one to make.`,
    'Set DATA_DIR or the settings of the registry; with none of them "carbon-mirror up" makes a demo.',
  );
}
