import type { ColumnType } from 'kysely';
import type { Tables } from '../contract/tables.js';

/** A column that can be selected, but neither inserted nor updated. */
type ReadOnlyColumn<Cell> = ColumnType<Cell, never, never>;

/**
 * The columns of a table that programs may select. A table whose rows are of both credit types, as its column `type` says,
 * lacks the amounts that can be added up, because tonnes of ex-post and ex-ante credits must not be added. Their exact text
 * stays, and `available_credits` and `last_known_credits` have a sum for each type.
 */
type SelectableName<Row> = 'type' extends keyof Row
  ? Exclude<keyof Row, 'amount' | `${string}_micro`>
  : keyof Row;

type MirrorTable<Row> = { readonly [Name in SelectableName<Row>]: ReadOnlyColumn<Row[Name]> };

/** Every table and view of the mirror by its name, with the types of its columns. Instants are texts in UTC. */
export type MirrorTables = {
  readonly [Name in keyof Tables as Name extends `inbox.${string}` ? never : Name]: MirrorTable<Tables[Name]>;
};
