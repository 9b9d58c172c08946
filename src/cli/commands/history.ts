import { rowsOf, seenOf } from '../../query/history/explanation.js';
import type { Entry } from '../../resources/entry.js';
import { firstSeen } from '../../text/read-behind.js';
import { command } from '../command.js';
import { demandEntry, findVersions } from '../find/in-mirror.js';
import type { Row } from '../output/output.js';
import { ROW_WORDS } from '../taken.js';

/** What a person compares between versions is what is left. */
const NOT_SHOWN = new Set([
  'version',
  'organization_id',
  'sync_id',
  'closed_by',
  'closed_version',
  'document',
]);

export const HISTORY = command({
  says: 'Show every version of one row; valid_from is when the mirror observed it',
  words: ROW_WORDS,
  prints: { json: 'print all columns as JSON', csv: 'print all columns as CSV', file: true },
  examples: [
    'carbon-mirror history retirements 3f0c5d0e-8a51-4b6f-9d0f-6a1f6c8f2b11',
    'carbon-mirror history warehouse_credits exPost-2-0xabc --json',
  ],
  run: async (context, { table, id }) => {
    const entry = demandEntry(table);
    const versions = await findVersions(await context.reader(), entry, id);
    const all = context.format !== 'table';
    await context.rows(all ? Object.keys(versions[0] ?? {}) : changing(entry, versions), versions);
    context.say(...rowsOf(entry, versions).map(row => firstSeen(seenOf(row))));
  },
});

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
