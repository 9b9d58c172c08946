import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import type { ResourceEntry, SortOrder } from '../../resources/entry.js';
import type { Resource } from '../../resources/lists.js';
import type { Caveat } from '../answer/caveat.js';
import type { ListColumn } from './column.js';
import type { Condition } from './condition.js';
import type { Filter } from './filter.js';

/** Whether the rows of a list have amounts in tonnes, and whether totals of the amounts are per credit type. */
export type AmountKind = 'none' | 'of one type' | 'by type';

/** A list that people read with `list` and `show`, on a page of the console, and as CSV and JSON. */
export interface List {
  /** The name of the command and of the page. */
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  /** The nouns for its rows. */
  readonly plural: string;
  readonly singular: string;
  /** Shown if the list has no rows at all. */
  readonly empty: string;
  /** A table or a view. */
  readonly from: string;
  /** The columns that are shown, the least important last. */
  readonly columns: readonly ListColumn[];
  /** The columns that are read: columns of `from`, and the name of the organization. */
  readonly reads: readonly string[];
  /** Computes the shown columns from the columns that are read. Null if they are the same. */
  readonly refine: Refine | null;
  /** Reads caveats that only this list has. Null if it has none. */
  readonly readCaveats: ((reader: Reader) => Promise<readonly Caveat[]>) | null;
  /** Filters by the name of their URL parameter, which may differ from the name of the command's option. */
  readonly filters: Readonly<Record<string, Filter>>;
  /** No two rows are equal in all of these columns. */
  readonly order: SortOrder;
  /** Whether an index has the rows in this order, in one direction: all rows, or those of one organization. */
  readonly isIndexed: boolean;
  /** The orders that people can choose: `order` and its reverse. Empty if no index has them. */
  readonly sorts: readonly ListSort[];
  readonly amounts: AmountKind;
  /** Whether the amounts are available to buyers as long as the list of their organization is fresh. */
  readonly isOffer: boolean;
  /** The condition of rows that still hold an amount. The other rows have ended. Null if no row of the list holds an amount. */
  readonly holds: Condition | null;
  /** Whether rows are about people or their addresses. The HTTP API returns them only to tokens that name the list. */
  readonly isPersonal: boolean;
  /** The column that identifies a row. */
  readonly idColumn: string;
  /** The name of the list under whose URL each row has a page, such as `/warehouse/ID`. Null if rows have no pages. */
  readonly detailList: string | null;
  /** The mirrored resource. Null for a list whose rows the program itself makes. */
  readonly entry: ResourceEntry | null;
  /** The name of the resource in `resource_states`. Null if it is no resource of an organization. */
  readonly resource: Resource | null;
  /** How the list is read as of an instant. Null if it has no history. */
  readonly past: Pick<List, 'from' | 'columns' | 'reads'> | null;
}

/** An order of rows that an index has. */
export interface ListSort {
  /** The word that chooses it, such as `oldest`. */
  readonly name: string;
  /** The column whose heading offers it. */
  readonly column: string;
  readonly order: SortOrder;
}

/** Whether the list can be read as of an instant, with the gaps of each organization. Projects belong to no organization. */
export function hasOwnedHistory({ past, resource, filters }: List): boolean {
  return past !== null && resource !== null && resource !== 'projects' && 'organization_id' in filters;
}

/** A filter with the value that the user chose. */
export interface ChosenFilter {
  readonly name: string;
  readonly filter: Filter;
  /** The value in its usual spelling: the whole id of an organization, `exPost` for `EX-POST`. */
  readonly text: string;
  readonly condition: Condition;
}

/** A list and the filters that the user chose. */
export interface ListRequest extends ListSelection {
  readonly filters: readonly ChosenFilter[];
}

/** Computes the shown columns of rows that were read now (null) or as of an instant. */
export type Refine = (reader: Reader, rows: readonly Row[], at: string | null) => Promise<readonly Row[]>;

/** Selects rows of a list. Names of columns and tables come from the program; values may come from the user. */
export interface ListSelection {
  readonly list: List;
  /** All of them must hold. */
  readonly where: readonly Condition[];
  /** Selects the rows of a history that were valid at this instant. Null for the present. */
  readonly at: string | null;
}
