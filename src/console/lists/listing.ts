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
  /** Different in each row. */
  readonly tie: string;
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
