import type { Direction } from '../../query/paged.js';

/** A list that people page through. All names in it are ours; what a person asks for is looked up here. */
export interface Listing {
  readonly path: string;
  readonly title: string;
  /** What one row is called. */
  readonly one: string;
  readonly from: string;
  readonly columns: readonly string[];
  readonly order: readonly (readonly [column: string, direction: Direction])[];
  /** Different in each row. */
  readonly tie: string;
  /** The column whose value leads to a page of its own. */
  readonly leads: string | null;
  readonly filters: readonly string[];
}
