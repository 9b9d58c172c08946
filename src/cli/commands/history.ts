import type { Command } from 'commander';
import type { Entry } from '../../resources/entry.js';
import { examples } from '../command.js';
import { addFile, addFormats, type FileOptions, formatOf } from '../formats.js';
import { intoFile } from '../output/into-file.js';
import { type Io, say } from '../io.js';
import { demandEntry, findVersions } from '../named/versions.js';
import { type Row, writeRows } from '../output/output.js';
import { findPlace } from '../place/find-place.js';
import { reading } from '../place/place.js';
import { rowsOf, seenOf } from '../../query/past/explanation.js';
import { firstSeen } from '../../text/read-behind.js';

/** What a person compares between versions is what is left. */
const NOT_SHOWN = new Set([
  'version',
  'organization_id',
  'sync_run_id',
  'closed_by',
  'closed_version',
  'document',
]);

export function define(program: Command, io: Io): void {
  const command = program
    .command('history')
    .description('Show every version of one row; valid_from is when the answer that showed it so had arrived')
    .argument('<table>', 'retirements, warehouse_credits, installations or another table that is mirrored')
    .argument('<id>', "the row's id or its beginning (for certificates that of the retirement)")
    .action((table: string, id: string, options: FileOptions) =>
      intoFile({ io, findPlace }, { command: 'history', table, id }, options, async (out, form) => {
        await show(out, demandEntry(table), id, form);
      }),
    );
  addFile(addFormats(command, 'print all columns as JSON', 'print all columns as CSV'));
  examples(command, [
    'carbon-mirror history retirements 3f0c5d0e-8a51-4b6f-9d0f-6a1f6c8f2b11',
    'carbon-mirror history warehouse_credits exPost-2-0xabc --json',
  ]);
}

async function show(io: Io, entry: Entry, id: string, options: FileOptions): Promise<void> {
  const versions = await reading(findPlace(io), async reader => await findVersions(reader, entry, id));
  const format = formatOf(options);
  const all = format !== 'table';
  await writeRows(io, format, all ? Object.keys(versions[0] ?? {}) : changing(entry, versions), versions);
  for (const row of rowsOf(entry, versions)) say(io, firstSeen(seenOf(row)));
}

/** The dates first, then the columns whose value is not the same in all versions, then some that people read. */
function changing({ shown }: Entry, versions: readonly Row[]): string[] {
  const all = Object.keys(versions[0] ?? {}).filter(name => !NOT_SHOWN.has(name));
  const known = shown.columns.filter(name => all.includes(name));
  const names = [...known, ...all.filter(name => !known.includes(name))];
  const dates = ['valid_from', 'valid_to'];
  const rest = names.filter(name => !dates.includes(name));
  const moves = rest.filter(name => new Set(versions.map(version => version[name])).size > 1);
  return [...dates, ...moves, ...rest.filter(name => !moves.includes(name)).slice(0, 5)];
}
