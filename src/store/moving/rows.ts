import { hash } from 'node:crypto';
import type { Relation } from '../../../migrations/schema.js';
import type { Kinds, Value } from '../dialect.js';
import { type Family, relationsOf } from '../migrations.js';
import { type Asked, insertion } from '../statement.js';

export type Cells = Readonly<Record<string, Value>>;

/** What triggers count stands before what they count: so it is copied after it. */
export function tablesIn(family: Family): Relation[] {
  return relationsOf('sqlite', family)
    .filter(({ kind }) => kind === 'table')
    .toReversed();
}

/** As people read the past: a cell a column. */
export function historiesIn(family: Family): Relation[] {
  return relationsOf('sqlite', family).filter(({ name }) => name.endsWith('_history'));
}

/** All of their columns, and a row's own number as it is. */
export function insertRows(table: Relation, rows: readonly Cells[]): Asked {
  const kinds = kindsOf(table);
  const cells = Object.entries(kinds);
  return insertion(
    table.name,
    kinds,
  )(rows.map(row => cells.map(([name, kind]) => cellOf(row[name] ?? null, kind))));
}

/** SQLite's driver binds every number as a REAL. */
function cellOf(value: Value, kind: string): Value {
  return typeof value === 'number' && kind !== 'real' ? BigInt(value) : value;
}

function kindsOf({ columns }: Relation): Kinds {
  return Object.fromEntries(
    Object.entries(columns).map(([name, [kind]]) => [
      name,
      kind === 'id' || kind === 'counted' ? 'int' : kind,
    ]),
  );
}

/** Equal for the same rows in any order. Each engine writes the JSON of its cells in its own way: those are told by the histories. */
export function createSum(relation: Relation) {
  const columns = Object.entries(kindsOf(relation)).filter(([, kind]) => kind !== 'cells');
  const tell = (value: Value, kind: string) => {
    if (value === null || typeof value === 'string') return value;
    if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('base64') };
    return kind === 'real' ? Number(value) : String(value);
  };
  let rows = 0;
  let sum = 0n;
  return {
    add: (row: Cells): void => {
      const told = JSON.stringify(columns.map(([name, kind]) => tell(row[name] ?? null, kind)));
      sum += hash('sha256', told, 'buffer').readBigUInt64BE();
      rows += 1;
    },
    read: () => ({ rows, sum }),
  };
}
