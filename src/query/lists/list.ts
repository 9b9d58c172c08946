import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import type { ResourceEntry, SortOrder } from '../../resources/entry.js';
import type { Resource } from '../../resources/lists.js';
import type { Condition, Filter } from './filter.js';

/** A list that people look through: by `list` and `show` of a command, by a page, as CSV and JSON from both. All names in it are ours. */
export interface List {
  /** As typed, and as it stands in an address. */
  readonly name: string;
  readonly title: string;
  readonly says: string;
  /** What its rows are called. */
  readonly plural: string;
  readonly singular: string;
  /** Said where there is no row at all. */
  readonly empty: string;
  /** A table or a view. */
  readonly from: string;
  /** What is shown of a row. */
  readonly columns: readonly string[];
  /** What is asked for: columns of `from`, and the name of the organization. */
  readonly reads: readonly string[];
  /** Makes of what was asked for what is shown, where that is not the same. */
  readonly refine: Refine | null;
  /** By their names in an address. */
  readonly filters: Readonly<Record<string, Filter>>;
  /** No two rows are equal in all of its columns. */
  readonly order: SortOrder;
  /** Whether an index has the rows in this order, which goes one way: all of them, or those of one organization. */
  readonly isIndexed: boolean;
  /** The column by which a person names a row. */
  readonly idColumn: string;
  /** Whether what a row is named by leads to a page of its own. */
  readonly hasDetailPages: boolean;
  /** What of it is mirrored; null for what is the mirror's own. */
  readonly entry: ResourceEntry | null;
  /** Its word in `resource_states`; null where it is no resource of an organization. */
  readonly resource: Resource | null;
  /** The same as of an instant; null where rows are of no instant. */
  readonly past: Pick<List, 'from' | 'columns' | 'reads'> | null;
}

/** A filter as a person gave it. */
export interface ChosenFilter {
  readonly name: string;
  readonly filter: Filter;
  /** The value in its usual spelling: the whole id of an organization, `exPost` for `EX-POST`. */
  readonly text: string;
  readonly condition: Condition;
}

/** What is asked of a list, and by which filters. */
export interface ListRequest extends ListSelection {
  readonly filters: readonly ChosenFilter[];
}

type Refine = (reader: Reader, rows: readonly Row[]) => Promise<readonly Row[]>;

/** What is asked of a list: every name in it comes from us, every value may come from a person. */
export interface ListSelection {
  readonly list: List;
  /** All of them must hold. */
  readonly where: readonly Condition[];
  /** Of a history what was true at this instant; null for what is true now. */
  readonly at: string | null;
}
