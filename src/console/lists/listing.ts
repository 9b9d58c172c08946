import type { Above } from './above.js';
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
  /** Whether an index has the rows in this order. */
  readonly isIndexed: boolean;
  /** Different in each row. */
  readonly tie: string;
  /** By this, within an organization, a row is found at once; null where there is no such column. */
  readonly key: string | null;
  /** The column whose value leads to a page of its own. */
  readonly leads: string | null;
  readonly filters: readonly string[];
  /** What is told above the rows; null where they say all. */
  readonly above: Above | null;
  /** The same as of an instant; null where rows are of no instant. */
  readonly dated: Dated | null;
}

interface Dated extends Pick<Listing, 'from' | 'columns'> {
  /** Its word in `resource_states`; null where it is no resource of an organization. */
  readonly resource: string | null;
}
