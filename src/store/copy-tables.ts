import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { Relation } from '../../migrations/schema.js';
import type { Value } from './contract/tables.js';
import type { Kinds } from './dialect.js';
import { type DatabaseName, listRelations } from './migrations.js';
import { createInsertBuilder, prepared } from './sql/prepared.js';
import type { BoundStatement } from './statement.js';

/** The cells of a row by the names of their columns. */
export type CopiedRow = Readonly<Record<string, Value>>;

/** Reads all rows of a table or view in chunks, with the cell types of SQLite. */
export type ReadRows = (relation: Relation) => AsyncIterable<readonly CopiedRow[]>;

/**
 * Returns the tables of a database in the order in which to copy them. Triggers count the rows of some tables and store the numbers in
 * count tables. Each count table comes after the tables whose rows it counts, so that the copied numbers overwrite those that the triggers
 * stored during the copy.
 */
export function listTables(database: DatabaseName): Relation[] {
  return listRelations('sqlite', database)
    .filter(({ kind }) => kind === 'table')
    .toReversed();
}

/** Returns the views that show all versions of a resource, past and current. */
export function listHistoryViews(database: DatabaseName): readonly Relation[] {
  return listRelations('sqlite', database).filter(({ name }) => name.endsWith('_history'));
}

/**
 * Copies all rows of a table from one database to another, where they replace the existing rows. `write` runs a statement in
 * the other database.
 */
export async function copyTable(
  table: Relation,
  read: ReadRows,
  write: (statement: BoundStatement) => unknown,
): Promise<void> {
  const kinds = listKinds(table);
  const insert = createInsertBuilder(table.name, kinds);
  const toCells = (row: CopiedRow) =>
    Object.entries(kinds).map(([name, kind]) => toBoundCell(row[name] ?? null, kind));
  await write(prepared(() => sql`DELETE FROM ${sql.table(table.name)}`)());
  for await (const rows of read(table)) await write(insert(rows.map(toCells)));
}

/**
 * Compares the rows of a table or view in two databases by their number and checksum. Returns the number of rows in each database. Throws
 * if the rows are not the same.
 */
export async function compareAndCountRows(
  relation: Relation,
  source: ReadRows,
  copy: ReadRows,
): Promise<number> {
  const [expected, found] = [await checksumRows(relation, source), await checksumRows(relation, copy)];
  if (expected.rows === found.rows && expected.sum === found.sum) return expected.rows;
  throw new Error(
    `${relation.name}: expected a copy of ${expected.rows} rows, got ${found.rows} rows with other content`,
  );
}

/**
 * Counts the rows of a table or view, and computes a checksum that does not depend on their order. Leaves out the column `cells`,
 * whose JSON each engine formats differently.
 */
async function checksumRows(relation: Relation, read: ReadRows): Promise<{ rows: number; sum: bigint }> {
  const columns = Object.entries(listKinds(relation)).filter(([, kind]) => kind !== 'cells');
  let rows = 0;
  let sum = 0n;
  for await (const chunk of read(relation)) {
    rows += chunk.length;
    for (const row of chunk) {
      const cells = columns.map(([name, kind]) => toComparableCell(row[name] ?? null, kind));
      sum += hash('sha256', JSON.stringify(cells), 'buffer').readBigUInt64BE();
    }
  }
  return { rows, sum };
}

/** Converts a cell to a value that is the same for both engines, for the checksum. */
function toComparableCell(value: Value, kind: string): unknown {
  if (value === null || typeof value === 'string') return value;
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('base64') };
  return kind === 'real' ? Number(value) : String(value);
}

/** Converts integers to bigint, because the SQLite driver binds every number as a REAL. */
function toBoundCell(value: Value, kind: string): Value {
  return typeof value === 'number' && kind !== 'real' ? BigInt(value) : value;
}

/**
 * Returns the kind to use for each column when a table is copied, such as `int` or `text`, by column name. A column whose numbers the
 * database generates gets the kind `int`, so that the copy keeps its numbers instead of generating new ones.
 */
export function listKinds({ columns }: Relation): Kinds {
  const kinds = Object.entries(columns).map(([name, [kind]]) => [name, kind] as const);
  return Object.fromEntries(
    kinds.map(([name, kind]) => [name, kind === 'id' || kind === 'counted' ? 'int' : kind]),
  );
}
