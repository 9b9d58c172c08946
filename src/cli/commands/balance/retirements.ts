import { tonnesOf } from '../../../text/tonnes.js';
import type { Reckoning } from '../../../query/past/balance.js';
import { EMPTY, flagOf, type Line, microOf, type Part } from './line.js';

/** Each reckoning of an organization is one sum; the months of one year only, where it is given. */
export async function addRetirements(rows: AsyncIterable<Reckoning>, year: string | null): Promise<Part> {
  const sums = new Map<string, Line>();
  const loose: Line[] = [];
  for await (const row of rows) {
    if (year !== null && !(row.reckoning === 'month' && row.value.startsWith(`${year}-`))) continue;
    const line = lineOf(row);
    const key = JSON.stringify([row.organization_id, row.reckoning]);
    sums.set(key, add(sums.get(key), line, row.reckoning));
    if (row.ties === 0) loose.push(line);
  }
  return { sums: [...sums.values()], loose };
}

function lineOf({ organization_id, reckoning, value, ...row }: Reckoning): Line {
  const found = microOf(row.amount_micro);
  const expected = microOf(row.counted_micro);
  const why = `${row.rows} listed with ${tonnesOf(found)} t, ${row.counted_rows} counted with ${tonnesOf(expected)} t`;
  return {
    ...EMPTY,
    identity: 'retirements',
    organization_id,
    what: `${reckoning} ${value === '' ? 'of none' : value}`,
    rows: row.rows,
    found_micro: found,
    expected_micro: expected,
    ties: flagOf(row.ties === 1),
    why: row.ties === 1 ? null : why,
  };
}

function add(sum: Line | undefined, line: Line, reckoning: string): Line {
  const before = sum ?? { ...line, rows: 0, found_micro: 0n, expected_micro: 0n, ties: 1 };
  return {
    ...before,
    what: `by ${reckoning}`,
    rows: before.rows + line.rows,
    found_micro: microOf(before.found_micro) + microOf(line.found_micro),
    expected_micro: microOf(before.expected_micro) + microOf(line.expected_micro),
    ties: flagOf(before.ties === 1 && line.ties === 1),
    why: null,
  };
}
