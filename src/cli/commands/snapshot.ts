import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { examples } from '../command.js';
import { CommandFault, EXIT } from '../exit.js';
import { type Io, say } from '../io.js';
import { writeValue } from '../output/output.js';
import { findPlace } from '../place.js';

export function define(program: Command, io: Io): void {
  const command = program
    .command('snapshot')
    .description('Write a consistent copy of mirror.db to one file, while the mirror goes on')
    .argument('<file>', 'the copy; it must not be there yet')
    .option('--json', 'print what was written as JSON')
    .action(async (file: string, options: { json?: boolean }) => {
      if (!(await findPlace(io).engine.snapshot(file, io.now()))) throw isThere(file);
      const bytes = statSync(file).size;
      if (options.json) return await writeValue(io, { file, bytes });
      say(io, `Wrote ${file} (${(bytes / 1e6).toFixed(1)} MB). Try "datasette ${file}" or "duckdb ${file}".`);
      return undefined;
    });
  examples(command, [
    'carbon-mirror snapshot mirror-2026-01-31.db',
    'carbon-mirror snapshot /backup/mirror.db --json',
  ]);
}

function isThere(file: string): CommandFault {
  return new CommandFault(
    EXIT.usage,
    `${file} is there already.`,
    'Name a new file, or remove that one first.',
  );
}
