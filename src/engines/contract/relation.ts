import type { Family } from '../migrations.js';

export interface ColumnDescription {
  readonly name: string;
  readonly type: string;
  readonly meaning: string;
}

/** A table or a view that queries may use, in the words of the migrations. */
export interface Relation {
  readonly database: Family;
  readonly kind: 'table' | 'view';
  readonly name: string;
  readonly meaning: string;
  readonly columns: readonly ColumnDescription[];
}
