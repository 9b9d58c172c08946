import type { ColumnType } from 'kysely';
import type { Tables } from '../contract/tables.js';

/** A column that can be selected, but neither inserted nor updated. */
type ReadOnlyColumn<Cell> = ColumnType<Cell, never, never>;

/**
 * The columns of a table that programs may select. A table with a column `type` has rows of ex-post and of ex-ante credits, whose
 * tonnes must not be added. Its numeric amounts are therefore left out; amounts as text stay. `available_credits` and
 * `last_known_credits` have a sum for each type.
 */
type SelectableName<Row> = 'type' extends keyof Row
  ? Exclude<keyof Row, 'amount' | `${string}_micro`>
  : keyof Row;

type MirrorTable<Row> = { readonly [Name in SelectableName<Row>]: ReadOnlyColumn<Row[Name]> };

/** The tables and views of the mirror with the types of their columns. Instants are texts in UTC. */
export type MirrorTables = {
  readonly [Name in keyof Tables as Name extends `inbox.${string}` ? never : Name]: MirrorTable<Tables[Name]>;
};
