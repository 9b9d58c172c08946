import { sql } from 'kysely';
import { buildOrganizationCondition, buildValidAtCondition } from '../read-one.js';
import type { Reader } from '../../store/contract/reader.js';
import { select, sqlStatement } from '../../store/sql/columns.js';
import type { Row } from '../../store/contract/tables.js';
import { formatCreditType } from '../../text/tonnes.js';
import { type NamedChoice, MOST_CHOICES } from '../names.js';
import type { List } from './list-type.js';
import { relation, selectColumns } from './relation.js';

/** With more different combinations of values, a column has too many values for a list of choices. */
const MAX_COMBINATIONS = 2_000;

interface ValuesRequest {
  /** Null for the present. */
  readonly at: string | null;
  /** Null for all organizations. */
  readonly organizationId?: string | null;
}

/** Reads the distinct values of some columns in one pass over a list. The value is null for a column that has too many. */
export async function readColumnValues(
  reader: Reader,
  { from, past }: List,
  columns: readonly string[],
  { at, organizationId = null }: ValuesRequest,
): Promise<Map<string, NamedChoice[] | null>> {
  if (columns.length === 0) return new Map();
  const isPast = at !== null && past !== null;
  const rows = await reader.all(sqlStatement`SELECT DISTINCT ${selectColumns(columns)}
    FROM ${relation(isPast ? past.from : from)} WHERE ${buildValidAtCondition(isPast ? at : null)} AND ${buildOrganizationCondition(organizationId)}
    LIMIT ${MAX_COMBINATIONS + 1}`);
  return new Map(columns.map(column => [column, toChoices(column, rows)]));
}

/** Returns the distinct values of a column as choices. Null if there are too many. */
function toChoices(column: string, rows: readonly Row[]): NamedChoice[] | null {
  const values = new Set(rows.flatMap(row => (row[column] === null ? [] : String(row[column]))));
  if (rows.length > MAX_COMBINATIONS || values.size > MOST_CHOICES) return null;
  const format = (value: string) => (column === 'type' ? formatCreditType(value) : value);
  return [...values].toSorted().map(value => ({ value, label: format(value) }));
}

/**
 * Reads the distinct texts of a column, at most `limit`. The caller searches them for texts whose spelling is similar to what a user typed.
 */
export async function readTexts(
  reader: Reader,
  from: string,
  column: string,
  { instant, limit }: { readonly instant: string | null; readonly limit: number },
): Promise<string[]> {
  const text = sql.ref<string | null>(column);
  const rows = await reader.all(sqlStatement`SELECT DISTINCT ${select({ text })} FROM ${relation(from)}
    WHERE ${buildValidAtCondition(instant)} LIMIT ${limit}`);
  return rows.flatMap(row => row.text ?? []);
}
