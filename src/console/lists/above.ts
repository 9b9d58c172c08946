import type { Row } from '../../engines/contract/tables.js';
import { ask } from '../../query/lists/ask.js';
import { RUNS } from '../../query/lists/lists.js';
import { readAll } from '../../query/lists/read.js';
import { sumRefusals } from '../../query/inbox/refusals.js';
import type { Ask } from '../page.js';
import { cell } from '../parts/cell.js';
import { type Column, columns } from '../parts/columns.js';
import type { Html } from '../parts/html.js';
import { refused } from '../parts/refused.js';
import { table } from '../parts/table.js';
import { counted } from '../parts/words.js';

const DAY_MS = 86_400_000;
const READS = 40;
const SHOWN = ['started_at', 'resource', 'seconds', 'rows_added', 'rows_changed', 'rows_removed', 'drift'];

/** What stands above the rows of a list, beside what its rows say themselves. */
type Above = (ask: Ask) => Promise<Html | false>;

/** Deliveries: what was turned away is in no row. */
async function refusedAbove({ reader, now }: Ask): Promise<Html | false> {
  return refused(await sumRefusals(reader, new Date(now - DAY_MS).toISOString()), now);
}

/** Reads: how long they took, one beside the other. Nothing where the rows are chosen by more than whose and what they are. */
async function readsAbove({ reader, query, now }: Ask): Promise<Html | false> {
  if (['id', 'state', 'trigger', 'drift'].some(name => query.get(name))) return false;
  const asked = ask(RUNS, { of: name => query.get(name), at: null });
  if ('fault' in asked) return false;
  const runs = await readAll(reader, RUNS, asked.where, READS);
  const ended = runs.filter(({ seconds }) => seconds !== null).toReversed();
  if (ended.length === 0) return false;
  const shown = table(
    'The newest reads that ended',
    SHOWN.map(column => ({
      name: column.replaceAll('_', ' '),
      cell: (row: Row) => cell(column, row[column], now),
    })),
    ended,
  );
  return columns(sentence(ended), ended.map(columnOf), shown);
}

/** By the name of the list. */
export const ABOVE: Readonly<Record<string, Above>> = { deliveries: refusedAbove, runs: readsAbove };

function sentence(runs: readonly Row[]): string {
  const longest = Math.max(...runs.map(run => Number(run['seconds'])));
  const drift = runs.reduce((sum, run) => sum + Number(run['drift']), 0);
  const found =
    drift === 0 ? 'none found drift' : `drift of ${counted(drift, 'row')} is marked with its number`;
  return `The last ${counted(runs.length, 'read')} took ${longest} s at most; ${found}.`;
}

function columnOf(run: Row): Column {
  const drift = Number(run['drift']);
  const name = `${String(run['resource'])} at ${String(run['started_at'])}: ${String(run['seconds'])} s`;
  return { name, value: Number(run['seconds']), mark: drift > 0 ? String(drift) : '' };
}
