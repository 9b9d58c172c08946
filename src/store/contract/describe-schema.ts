import { type EngineName, relationsOf, typeOf } from '../migrations.js';

interface ColumnDescription {
  readonly name: string;
  readonly type: string;
  readonly meaning: string;
}

/** A table or a view that queries may use, in the words of the migrations. */
export interface Relation {
  readonly database: 'inbox' | 'mirror';
  readonly kind: 'table' | 'view';
  readonly name: string;
  readonly meaning: string;
  readonly columns: readonly ColumnDescription[];
}

/** The tables and views of both databases. */
export function describeSchema(engine: EngineName): Relation[] {
  return (['mirror', 'inbox'] as const).flatMap(database =>
    relationsOf(engine, database).map(({ kind, name, meaning, columns }) => ({
      database,
      kind,
      name: name.slice(database.length + 1),
      meaning,
      columns: Object.entries(columns).map(([column, [of, words]]) => ({
        name: column,
        type: typeOf(engine, of),
        meaning: words,
      })),
    })),
  );
}
