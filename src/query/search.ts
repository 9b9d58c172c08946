import type { Reader } from '../store/contract/reader.js';
import { hasColumn, type Row } from '../store/contract/tables.js';
import { byName, fits } from './sql.js';
import { ofAnyOrganization } from './lists/find.js';
import type { List } from './lists/list.js';
import { isThere } from './lists/read.js';
import { ALL_LISTS, DELIVERIES, JOBS, MIRRORED, SYNCS } from './lists/lists.js';

/** Of a text that no index finds, so many of the newest rows of a table are read. */
export const SEARCHED_ROWS = 50_000;

export interface Hits {
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
export async function search(reader: Reader, text: string): Promise<Hits[]> {
  const hits: Hits[] = [];
  for (const list of MIRRORED) hits.push(await beginning(reader, list, text));
  for (const list of ALL_LISTS) {
    for (const column of TEXTS[list.name] ?? []) hits.push(await among(reader, list, column, text));
  }
  return hits.filter(({ rows }) => rows.length > 0);
}

/** The lists in which a row has this number. */
export async function findNumbered(reader: Reader, number: number): Promise<List[]> {
  const found: List[] = [];
  for (const list of [DELIVERIES, JOBS, SYNCS])
    if (await isThere(reader, list, list.named, number)) found.push(list);
  return found;
}

/** By the key of the table. */
async function beginning(reader: Reader, list: List, text: string): Promise<Hits> {
  const { named: column, entry } = list;
  const asked = byName(reader).selectFrom(tableOf(list)).select(shown(list, column));
  const fitting = asked.where(column, '>=', text).where(column, '<', `${text}\u{10ffff}`);
  const owned = entry === null ? null : ofAnyOrganization(reader, entry);
  const rows = owned === null ? fitting : fitting.where(owned.column, 'in', owned.values);
  return { list, column, rows: await rows.orderBy(column).orderBy('version').limit(MOST).execute() };
}

async function among(reader: Reader, list: List, column: string, text: string): Promise<Hits> {
  const number = list.entry === null ? 'id' : 'version';
  const newest = byName(reader)
    .selectFrom(tableOf(list))
    .select(shown(list, column, number))
    .orderBy(number, 'desc')
    .limit(SEARCHED_ROWS);
  const found = byName(reader)
    .selectFrom(newest.as('newest'))
    .selectAll()
    .where(eb => fits(eb, { column, holds: text }));
  return { list, column, rows: await found.orderBy(number, 'desc').limit(MOST).execute() };
}

function tableOf({ entry, from }: List): string {
  return entry?.table ?? from;
}

function shown(list: List, ...columns: readonly string[]): string[] {
  const words = WORDS.filter(name => hasColumn(tableOf(list), name));
  return [...new Set([list.named, ...columns, ...words])];
}
