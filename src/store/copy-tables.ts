import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { Relation } from '../../migrations/schema.js';
import type { Kinds, Value } from './dialect.js';
import { type Family, relationsOf } from './migrations.js';
import { insertRows, prepared } from './sql/prepared.js';
import type { BoundStatement } from './statement.js';

export type Cells = Readonly<Record<string, Value>>;

/** Reads all rows of a table or view in chunks, with the cell types of SQLite. */
export type ReadRows = (relation: Relation) => AsyncIterable<readonly Cells[]>;

/** Returns the tables in the order in which they are copied: tables whose rows triggers count come before the tables of the counts. */
export function listTables(family: Family): Relation[] {
  return relationsOf('sqlite', family)
    .filter(({ kind }) => kind === 'table')
    .toReversed();
}

/** Returns the views with past and current versions. */
export function listHistories(family: Family): readonly Relation[] {
  return relationsOf('sqlite', family).filter(({ name }) => name.endsWith('_history'));
}

/** Replaces all rows of a table with the rows that `read` returns for it. */
export async function copyTable(
  table: Relation,
  read: ReadRows,
  write: (statement: BoundStatement) => unknown,
): Promise<void> {
  const kinds = listKinds(table);
  const insert = insertRows(table.name, kinds);
  const toCells = (row: Cells) =>
    Object.entries(kinds).map(([name, kind]) => toBoundCell(row[name] ?? null, kind));
  await write(prepared(() => sql`DELETE FROM ${sql.table(table.name)}`)());
  for await (const rows of read(table)) await write(insert(rows.map(toCells)));
}

/** Throws if the rows of a table or view differ between two databases. Returns the number of rows. */
export async function assertEqualRows(relation: Relation, source: ReadRows, copy: ReadRows): Promise<number> {
  const [expected, found] = [await checksumRows(relation, source), await checksumRows(relation, copy)];
  if (expected.rows === found.rows && expected.sum === found.sum) return expected.rows;
  throw new Error(
    `${relation.name}: expected ${expected.rows} equal rows, got ${found.rows} that are not those`,
  );
}

/**
 * Returns the number of rows and a checksum that does not depend on their order. Leaves out the column `cells`, because each
 * engine writes that JSON in its own way. Its content is still compared, through the views of past versions.
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

function toComparableCell(value: Value, kind: string): unknown {
  if (value === null || typeof value === 'string') return value;
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('base64') };
  return kind === 'real' ? Number(value) : String(value);
}

/** Returns integers as bigint, because the driver of SQLite binds every number as a REAL. */
function toBoundCell(value: Value, kind: string): Value {
  return typeof value === 'number' && kind !== 'real' ? BigInt(value) : value;
}

/** Returns the kind of each column. Numbers that a database gave to rows are copied, so they are plain integers. */
export function listKinds({ columns }: Relation): Kinds {
  const kinds = Object.entries(columns).map(([name, [kind]]) => [name, kind] as const);
  return Object.fromEntries(
    kinds.map(([name, kind]) => [name, kind === 'id' || kind === 'counted' ? 'int' : kind]),
  );
}
