import type { Reader, Statement } from '../store/contract/reader.js';
import { hasColumn, type Row } from '../store/contract/tables.js';
import { matches } from './lists/condition.js';
import { isOfKnownOrganization } from './lists/find.js';
import type { List } from './lists/list.js';
import { ALL_LISTS, DELIVERIES, JOBS, MIRRORED, SYNCS } from './lists/lists.js';
import { hasRows } from './lists/rows.js';
import { built, joined, only, plain, sql, table } from './sql.js';

/** Of a text that no index finds, so many of the newest rows of a table are read. */
export const SEARCHED_ROWS = 50_000;

export interface SearchHits {
  /** Where they stand. */
  readonly list: List;
  /** The column that fits. */
  readonly column: string;
  readonly rows: readonly Row[];
}

/** More are for the list itself. */
const MOST = 10;
/** The columns that are looked through, by the name of the list. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  retirements: ['beneficiary', 'serialization', 'project_name', 'comment'],
  warehouse: ['serialization', 'project_name'],
  inventory: ['serialization', 'project_name'],
  organizations: ['full_name'],
  projects: ['full_name'],
  jobs: ['last_error'],
  syncs: ['error'],
};
/** What tells a row from others, and what it is. */
const WORDS = ['full_name', 'beneficiary', 'amount_exact', 'project_name', 'vintage', 'organization_id'];

/** Everything whose id begins so; then what holds the text, among the newest. */
export async function search(reader: Reader, text: string): Promise<SearchHits[]> {
  const hits: SearchHits[] = [];
  for (const list of MIRRORED) hits.push(await beginning(reader, list, text));
  for (const list of ALL_LISTS) {
    for (const column of await findColumns(reader, list, text))
      hits.push(await among(reader, list, column, text));
  }
  return hits.filter(({ rows }) => rows.length > 0);
}

/** The lists in which a row has this number. */
export async function findNumbered(reader: Reader, number: number): Promise<List[]> {
  const found: List[] = [];
  for (const list of [DELIVERIES, JOBS, SYNCS])
    if (await hasRows(reader, { list, at: null, where: [{ column: list.idColumn, is: number }] }))
      found.push(list);
  return found;
}

/** By the key of the table. */
async function beginning({ all }: Reader, list: List, text: string): Promise<SearchHits> {
  const { idColumn: column, entry } = list;
  const name = plain(column);
  const rows = await all(sql<Row>`SELECT ${plain(shown(list, column).join(', '))} FROM ${table(tableOf(list))}
    WHERE ${name} >= ${text} AND ${name} < ${`${text}\u{10ffff}`} AND ${built(isOfKnownOrganization(entry))}
    ORDER BY ${name}, version LIMIT ${MOST}`);
  return { list, column, rows };
}

/** The columns of a list in which any of the newest rows holds the text: all of them are looked through at once. */
async function findColumns(reader: Reader, list: List, text: string): Promise<string[]> {
  const columns = TEXTS[list.name] ?? [];
  if (columns.length < 2) return [...columns];
  const counts = columns.map(
    column => sql`count(*) FILTER (WHERE ${built(matches({ column, holds: text }))}) AS ${plain(column)}`,
  );
  const found = await only(
    reader,
    sql<Record<string, number>>`SELECT ${joined(counts, ', ')} FROM (${newestOf(list, columns)}) AS newest`,
  );
  return columns.filter(column => Number(found[column]) > 0);
}

function newestOf(list: List, columns: readonly string[]): Statement<Row> {
  return sql<Row>`SELECT ${plain(columns.join(', '))} FROM ${table(tableOf(list))}
      ORDER BY ${plain(numberOf(list))} DESC LIMIT ${SEARCHED_ROWS}`;
}

/** The column that rises with each row that is written. */
function numberOf({ entry }: List): string {
  return entry === null ? 'id' : 'version';
}

async function among({ all }: Reader, list: List, column: string, text: string): Promise<SearchHits> {
  const name = numberOf(list);
  const number = plain(name);
  const rows = await all(sql<Row>`SELECT * FROM (${newestOf(list, shown(list, column, name))}) AS newest
    WHERE ${built(matches({ column, holds: text }))} ORDER BY ${number} DESC LIMIT ${MOST}`);
  return { list, column, rows };
}

function tableOf({ entry, from }: List): string {
  return entry?.table ?? from;
}

function shown(list: List, ...columns: readonly string[]): string[] {
  const words = WORDS.filter(name => hasColumn(tableOf(list), name));
  return [...new Set([list.idColumn, ...columns, ...words])];
}
