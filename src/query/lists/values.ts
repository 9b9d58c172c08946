import type { Reader } from '../../store/contract/reader.js';
import { formatCreditType } from '../../text/tonnes.js';
import { type NamedChoice, MOST_CHOICES } from '../names.js';
import { plain, sql, stoodAt, table } from '../sql.js';
import type { List } from './list.js';

/** Rows that differ in the columns at the same time: more are not worth a choice. */
const MOST_COMBINATIONS = 2_000;

/** Reads the distinct values of some columns of a list, in one pass over its rows. Null for a column that has too many. */
export async function readValues(
  { all }: Reader,
  { from, past }: List,
  columns: readonly string[],
  at: string | null,
): Promise<Map<string, NamedChoice[] | null>> {
  if (columns.length === 0) return new Map();
  const rows = at === null || past === null ? table(from) : sql`${table(past.from)} WHERE ${stoodAt(at)}`;
  const found = await all(
    sql<
      Record<string, string | null>
    >`SELECT DISTINCT ${plain(columns.join(', '))} FROM ${rows} LIMIT ${MOST_COMBINATIONS + 1}`,
  );
  return new Map(columns.map(column => [column, toChoices(column, found)]));
}

function toChoices(
  column: string,
  rows: readonly Readonly<Record<string, string | null>>[],
): NamedChoice[] | null {
  const values = new Set(rows.flatMap(row => row[column] ?? []));
  if (rows.length > MOST_COMBINATIONS || values.size > MOST_CHOICES) return null;
  const says = (value: string) => (column === 'type' ? formatCreditType(value) : value);
  return [...values].toSorted().map(value => ({ value, says: says(value) }));
}
