import { type EngineName, listRelations, getColumnType } from '../migrations.js';

interface ColumnDescription {
  readonly name: string;
  readonly type: string;
  readonly meaning: string;
}

/** A table or view that people may query, with the descriptions from the migrations. */
export interface Relation {
  readonly database: 'inbox' | 'mirror';
  readonly kind: 'table' | 'view';
  readonly name: string;
  readonly meaning: string;
  readonly columns: readonly ColumnDescription[];
}

/** Returns the tables and views of the databases `mirror` and `inbox`, with the column types of an engine. */
export function describeSchema(engine: EngineName): Relation[] {
  return (['mirror', 'inbox'] as const).flatMap(database =>
    listRelations(engine, database).map(({ kind, name, meaning, columns }) => ({
      database,
      kind,
      name: name.slice(database.length + 1),
      meaning,
      columns: Object.entries(columns).map(([column, [columnKind, description]]) => ({
        name: column,
        type: getColumnType(engine, columnKind),
        meaning: description,
      })),
    })),
  );
}
