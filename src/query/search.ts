/** Searches all lists for a text: first in ids, then in names and other texts of the newest rows. */
import { sql } from 'kysely';
import type { Reader } from '../store/contract/reader.js';
import { sqlStatement } from '../store/sql/columns.js';
import { hasColumn, type Row } from '../store/contract/tables.js';
import { buildCondition, startsWith } from './lists/condition.js';
import { buildAnyOwnerCondition } from './lists/find-by-id.js';
import type { List } from './lists/list-type.js';
import { ALL_LISTS, DELIVERIES, JOBS, MIRRORED, SYNCS } from './lists/list-definitions.js';
import { ALL_COLUMNS, relation, selectColumns } from './lists/relation.js';
import { hasRows } from './lists/read-rows.js';
import { readOne } from './read-one.js';

/** Texts have no index, so only this many of the newest rows of a table are searched. */
export const SEARCHED_ROWS = 50_000;

export interface SearchHits {
  readonly list: List;
  /** The column that contains the text. */
  readonly column: string;
  readonly rows: readonly Row[];
}

const MAX_HITS_PER_COLUMN = 10;
/** The columns that are searched, by the name of the list. */
const TEXT_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  retirements: ['beneficiary', 'serialization', 'project_name', 'comment'],
  warehouse: ['serialization', 'project_name'],
  inventory: ['serialization', 'project_name'],
  organizations: ['full_name'],
  projects: ['full_name'],
  jobs: ['last_error'],
  syncs: ['error'],
};
/** A list whose searched text few rows have, so that an index has those rows only. */
const SPARSE_LIST = 'syncs';
/** Columns by which people recognize a row. */
const DESCRIPTION_COLUMNS = [
  'full_name',
  'beneficiary',
  'created_at',
  'amount_exact',
  'project_name',
  'vintage',
  'organization_id',
];

/** Finds the rows whose id starts with a text, and among the newest rows those that contain it. */
export async function search(reader: Reader, text: string): Promise<SearchHits[]> {
  const hits: SearchHits[] = [];
  for (const list of MIRRORED) hits.push(await findByIdPrefix(reader, list, text));
  for (const list of ALL_LISTS) {
    for (const column of await findMatchingColumns(reader, list, text))
      hits.push(await findByText(reader, list, column, text));
  }
  return hits.filter(({ rows }) => rows.length > 0);
}

/** Finds which of the lists of deliveries, jobs and syncs have a row with this number. */
export async function findNumbered(reader: Reader, number: number): Promise<List[]> {
  const lists: List[] = [];
  for (const list of [DELIVERIES, JOBS, SYNCS])
    if (await hasRows(reader, { list, at: null, where: [{ column: list.idColumn, is: number }] }))
      lists.push(list);
  return lists;
}

/** Finds the rows whose id starts with a text. */
async function findByIdPrefix(reader: Reader, list: List, text: string): Promise<SearchHits> {
  const { idColumn: column, entry } = list;
  const rows = await reader.all(sqlStatement`SELECT ${selectColumns(listHitColumns(list, column))}
    FROM ${relation(tableOf(list))}
    WHERE ${buildCondition(startsWith(column, text))} AND ${buildAnyOwnerCondition(entry)}
    ORDER BY ${sql.ref(column)}, version LIMIT ${MAX_HITS_PER_COLUMN}`);
  return { list, column, rows };
}

/** Finds the columns that contain the text in any of the newest rows. Reads the rows once for all columns. */
async function findMatchingColumns(reader: Reader, list: List, text: string): Promise<string[]> {
  const columns = TEXT_COLUMNS[list.name] ?? [];
  if (columns.length < 2) return [...columns];
  const counts = columns.map(
    column => sql`count(*) FILTER (WHERE ${buildCondition({ column, holds: text })}) AS ${sql.id(column)}`,
  );
  const found = await readOne(
    reader,
    sql<Row>`SELECT ${sql.join(counts)} FROM (${selectNewest(list, columns)}) AS newest`,
  );
  return columns.filter(column => Number(found[column]) > 0);
}

/** Selects columns of the newest rows of a list, at most `SEARCHED_ROWS`. */
function selectNewest(list: List, columns: readonly string[]) {
  return sqlStatement`SELECT ${selectColumns(columns)} FROM ${relation(tableOf(list))}
    ORDER BY ${sql.ref(numberColumnOf(list))} DESC LIMIT ${SEARCHED_ROWS}`;
}

/** Selects those of the newest rows in which `column` is not null. An index has only such rows, so the database reads no others. */
function selectNewestWith(list: List, column: string, columns: readonly string[]) {
  const number = sql.ref(numberColumnOf(list));
  const table = relation(tableOf(list));
  const lastTooOld = sql`SELECT ${number} FROM ${table} ORDER BY ${number} DESC LIMIT 1 OFFSET ${SEARCHED_ROWS}`;
  return sqlStatement`SELECT ${selectColumns(columns)} FROM ${table}
    WHERE ${sql.ref(column)} IS NOT NULL AND ${number} > coalesce((${lastTooOld}), 0)`;
}

/** Returns the column of a list whose number grows with each new row. */
function numberColumnOf({ entry }: List): string {
  return entry === null ? 'id' : 'version';
}

/** Finds the newest rows that contain a text in a column. */
async function findByText(reader: Reader, list: List, column: string, text: string): Promise<SearchHits> {
  const number = numberColumnOf(list);
  const columns = listHitColumns(list, column, number);
  const newest =
    list.name === SPARSE_LIST ? selectNewestWith(list, column, columns) : selectNewest(list, columns);
  const rows = await reader.all(sqlStatement`SELECT ${ALL_COLUMNS}
    FROM (${newest}) AS newest
    WHERE ${buildCondition({ column, holds: text })} ORDER BY ${sql.ref(number)} DESC LIMIT ${MAX_HITS_PER_COLUMN}`);
  return { list, column, rows };
}

/** Returns the table or view in which the rows of a list are searched. */
function tableOf({ entry, from }: List): string {
  return entry?.table ?? from;
}

/** Returns the columns of a hit: its id, the columns that were searched, and those that describe the row. */
function listHitColumns(list: List, ...searched: readonly string[]): string[] {
  const descriptions = DESCRIPTION_COLUMNS.filter(name => hasColumn(tableOf(list), name));
  return [...new Set([list.idColumn, ...searched, ...descriptions])];
}
