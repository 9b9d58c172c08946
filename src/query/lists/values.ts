import type { Reader } from '../../store/contract/reader.js';
import { formatCreditType } from '../../text/tonnes.js';
import { type NamedChoice, MOST_CHOICES } from '../names.js';
import { plain, sql, stoodAt, table } from '../sql.js';
import type { List } from './list.js';

/** What stands in a column of a list. */
export async function readValues(
  { all }: Reader,
  { from, past }: List,
  column: string,
  at: string | null,
): Promise<NamedChoice[] | null> {
  const rows = at === null || past === null ? table(from) : sql`${table(past.from)} WHERE ${stoodAt(at)}`;
  const found = await all(sql<{ value: string }>`SELECT DISTINCT value
    FROM (SELECT ${plain(column)} AS value FROM ${rows}) AS found
    WHERE value IS NOT NULL ORDER BY value LIMIT ${MOST_CHOICES + 1}`);
  const says = (value: string) => (column === 'type' ? formatCreditType(value) : value);
  return found.length > MOST_CHOICES ? null : found.map(({ value }) => ({ value, says: says(value) }));
}
