import type { Reader } from '../engines/contract/reader.js';
import type { Row } from '../engines/contract/tables.js';
import { type Entry, nameOf, ownerOf } from '../resources/entry.js';
import { LISTS } from '../resources/lists.js';
import { PROJECTS } from '../resources/projects.js';
import { ENTRIES, hasColumn } from '../resources/resources.js';
import { byName } from './by-name.js';
import { holds, ofAnyOrganization } from './lists.js';

/** Of a text that no index finds, so many of the newest rows of a table are read. */
export const SEARCHED_ROWS = 50_000;

export interface Hits {
  /** Where they stand, by the table's name. */
  readonly table: string;
  /** The column that fits. */
  readonly column: string;
  readonly rows: readonly Row[];
}

/** More are for the list itself. */
const MOST = 10;
const TEXTS: readonly (readonly [Entry, readonly string[]])[] = [
  [LISTS.retirements, ['beneficiary', 'serialization', 'project_name', 'comment']],
  [LISTS.warehouse, ['serialization', 'project_name']],
  [LISTS.inventory, ['serialization', 'project_name']],
  [LISTS.organization, ['full_name']],
  [PROJECTS, ['full_name']],
];
/** What people know by a number. */
const NUMBERED = ['inbox.deliveries', 'inbox.jobs', 'sync_runs'] as const;
const FAULTS = [
  ['inbox.jobs', 'last_error'],
  ['sync_runs', 'error'],
] as const;

/** Everything whose id begins so; then what holds the text, among the newest. */
export async function search(reader: Reader, text: string): Promise<Hits[]> {
  const hits: Hits[] = [];
  for (const entry of ENTRIES) hits.push(await beginning(reader, entry, text));
  for (const [entry, columns] of TEXTS) {
    for (const column of columns) hits.push(await among(reader, entry, column, text));
  }
  for (const [table, column] of FAULTS) hits.push(await amongFaults(reader, table, column, text));
  return hits.filter(({ rows }) => rows.length > 0);
}

/** The tables in which a row has this number. */
export async function findNumbered(reader: Reader, number: number): Promise<(typeof NUMBERED)[number][]> {
  const found = await Promise.all(
    NUMBERED.map(async table =>
      (await byName(reader).selectFrom(table).select('id').where('id', '=', number).execute()).map(
        () => table,
      ),
    ),
  );
  return found.flat();
}

/** By the key of the table. */
async function beginning(reader: Reader, entry: Entry, text: string): Promise<Hits> {
  const column = nameOf(entry);
  const { table } = entry;
  let asked = byName(reader).selectFrom(table).select(shown(entry, column));
  asked = asked.where(column, '>=', text).where(column, '<', `${text}\u{10ffff}`);
  const owned = ofAnyOrganization(reader, entry);
  if (owned !== null) asked = asked.where(owned.column, 'in', owned.values);
  return { table, column, rows: await asked.orderBy(column).orderBy('version').limit(MOST).execute() };
}

async function among(reader: Reader, entry: Entry, column: string, text: string): Promise<Hits> {
  const { table } = entry;
  const newest = byName(reader)
    .selectFrom(table)
    .select([...shown(entry, column), 'version'])
    .orderBy('version', 'desc')
    .limit(SEARCHED_ROWS);
  const found = byName(reader)
    .selectFrom(newest.as('newest'))
    .selectAll()
    .where(eb => holds(eb, { column, holds: text }));
  return { table, column, rows: await found.orderBy('version', 'desc').limit(MOST).execute() };
}

async function amongFaults(reader: Reader, table: string, column: string, text: string): Promise<Hits> {
  const newest = byName(reader)
    .selectFrom(table)
    .select(['id', column])
    .orderBy('id', 'desc')
    .limit(SEARCHED_ROWS);
  const found = byName(reader)
    .selectFrom(newest.as('newest'))
    .selectAll()
    .where(eb => holds(eb, { column, holds: text }));
  return { table, column, rows: await found.orderBy('id', 'desc').limit(MOST).execute() };
}

/** What tells a row from others, and what it is. */
function shown(entry: Entry, column: string): string[] {
  const owner = ownerOf(entry);
  const words = ['full_name', 'beneficiary', 'amount_exact', 'project_name', 'vintage'];
  return [
    ...new Set([
      nameOf(entry),
      column,
      ...words.filter(name => hasColumn(entry, name)),
      ...(owner === null ? [] : [owner]),
    ]),
  ];
}
