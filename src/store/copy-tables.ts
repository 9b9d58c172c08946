import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { Relation } from '../../migrations/schema.js';
import type { Kinds, Value } from './dialect.js';
import { type Family, relationsOf } from './migrations.js';
import { insertRows, prepared } from './sql/prepared.js';
import type { BoundStatement } from './statement.js';

export type Cells = Readonly<Record<string, Value>>;

/** All rows of a table or a view, some at a time, as SQLite has them. */
export type Read = (relation: Relation) => AsyncIterable<readonly Cells[]>;

/** What triggers count stands before what they count: so it is copied after it. */
export function tablesIn(family: Family): Relation[] {
  return relationsOf('sqlite', family)
    .filter(({ kind }) => kind === 'table')
    .toReversed();
}

export function historiesIn(family: Family): readonly Relation[] {
  return relationsOf('sqlite', family).filter(({ name }) => name.endsWith('_history'));
}

/** Puts rows in the place of all that a table has. */
export async function copyTable(
  table: Relation,
  read: Read,
  write: (statement: BoundStatement) => unknown,
): Promise<void> {
  const kinds = kindsOf(table);
  const insert = insertRows(table.name, kinds);
  const toCells = (row: Cells) =>
    Object.entries(kinds).map(([name, kind]) => cellOf(row[name] ?? null, kind));
  await write(prepared(() => sql`DELETE FROM ${sql.table(table.name)}`)());
  for await (const rows of read(table)) await write(insert(rows.map(toCells)));
}

/** Throws where a row or a column differs; answers how many rows there are. */
export async function demandEqual(relation: Relation, here: Read, there: Read): Promise<number> {
  const [one, other] = [await sumOf(relation, here), await sumOf(relation, there)];
  if (one.rows === other.rows && one.sum === other.sum) return one.rows;
  throw new Error(`${relation.name}: expected ${one.rows} equal rows, got ${other.rows} that are not those`);
}

/** Equal for the same rows in any order. Each engine writes the JSON of its cells in its own way: those are told by the histories. */
async function sumOf(relation: Relation, read: Read): Promise<{ rows: number; sum: bigint }> {
  const columns = Object.entries(kindsOf(relation)).filter(([, kind]) => kind !== 'cells');
  let rows = 0;
  let sum = 0n;
  for await (const some of read(relation)) {
    rows += some.length;
    for (const row of some) {
      const told = columns.map(([name, kind]) => toldOf(row[name] ?? null, kind));
      sum += hash('sha256', JSON.stringify(told), 'buffer').readBigUInt64BE();
    }
  }
  return { rows, sum };
}

function toldOf(value: Value, kind: string): unknown {
  if (value === null || typeof value === 'string') return value;
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('base64') };
  return kind === 'real' ? Number(value) : String(value);
}

/** SQLite's driver binds every number as a REAL. */
function cellOf(value: Value, kind: string): Value {
  return typeof value === 'number' && kind !== 'real' ? BigInt(value) : value;
}

/** A row's own number is copied as it is. */
export function kindsOf({ columns }: Relation): Kinds {
  const kinds = Object.entries(columns).map(([name, [kind]]) => [name, kind] as const);
  return Object.fromEntries(
    kinds.map(([name, kind]) => [name, kind === 'id' || kind === 'counted' ? 'int' : kind]),
  );
}
