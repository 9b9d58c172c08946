import type { ReadFault } from '../../mirror/port/read.js';
import type { RowKey } from '../../mirror/port/rows.js';
import { RegistryError } from '../../registry/errors.js';
import { hashObjectText } from '../../registry/json/json-object.js';
import type { ObservedPage } from '../../registry/pages/paged-lists.js';
import type { UnreadableRow } from '../../registry/read-types.js';
import type { MirrorColumn } from '../../resources/mirror-columns.js';
import type { ListEntry } from '../../resources/entry.js';
import type { ReadContext } from '../installation/read-context.js';
import type { ListSource } from '../list-sources.js';

const DAY_SECONDS = 86_400;

/** What a read found out about a list as a whole. */
interface ListSummary {
  /** Why the rows cannot be the whole list; null if nothing is wrong. */
  readonly flaw: ReadFault | null;
  /** Names the rows that could not be read; null if there were none. */
  readonly unreadable: ReadFault | null;
  /** How many rows the list has according to the registry; null if it does not say. */
  readonly total: number | null;
  /** How often to read the list from now on if no delivery announces a change; null means in every scheduled round. */
  readonly everySeconds: number | null;
  /** How many rows the last request asked for per page; null if the list has no pages. */
  readonly pageSize: number | null;
}

/**
 * Creates an object that collects facts about a list from its chunks as they arrive. After the last chunk, `finish` returns the
 * summary of the whole list, such as its unreadable rows.
 */
export function createListSummary<Item extends object>(
  context: ReadContext,
  source: ListSource<Item>,
  entry: Pick<ListEntry<Item>, 'key' | 'readInterval'>,
) {
  const { organizationId, observations, now, client } = context;
  const { kind, findNextEnd, isOpen, readUnreadableKey } = source;
  const { key, readInterval } = entry;
  const foreignRows = createForeignRowFilter(organizationId, key);
  const unreadableRows = createUnreadableRowCollector(readUnreadableKey);
  let lastPage: ObservedPage<Item> | null = null;
  let hasOpenItems = false;

  return {
    /** Adds the next chunk of the list to the summary, in the order of the chunks. `page` is null if the list has no pages. */
    addChunk(items: readonly Item[], page: ObservedPage<Item> | null): void {
      const nextEnd = findNextEnd?.(items, now() + (client.http.clockSkewMs() ?? 0)) ?? null;
      if (nextEnd !== null)
        observations.nextReservationEnd = Math.min(observations.nextReservationEnd ?? nextEnd, nextEnd);
      hasOpenItems ||= isOpen !== undefined && items.some(isOpen);
      lastPage = page;
    },
    removeForeignRows: foreignRows.remove,
    addUnreadable: unreadableRows.add,
    listUnreadableKeys: unreadableRows.listKeys,

    /** Returns the summary of the whole list. Throws if the list is incomplete or no row could be parsed. */
    finish(seenRows: number): ListSummary {
      if (kind === 'paged') assertWholeListRead(lastPage, seenRows);
      unreadableRows.assertSomeReadable(seenRows);
      return {
        flaw: foreignRows.createFault(),
        unreadable: unreadableRows.createFault(),
        total: lastPage?.total ?? null,
        everySeconds: readInterval === 'day' && !hasOpenItems ? DAY_SECONDS : null,
        pageSize: lastPage?.limit ?? null,
      };
    },
  };
}

/** Throws if a paged list may be incomplete: its last page has no end mark, and `seenRows` differs from the registry's total. */
function assertWholeListRead(lastPage: ObservedPage<unknown> | null, seenRows: number): void {
  // A list without an end mark is complete if as many rows as the registry's total were seen.
  if (lastPage !== null && (lastPage.end === 'complete' || lastPage.total === seenRows)) return;
  const end = lastPage?.end ?? 'missing';
  throw new RegistryError('bad_answer', `the list has no proper end: its last page is ${end}`);
}

/** How many rows a message names; the others are only counted. */
const MAX_NAMED_ROWS = 3;
/** An answer with more unreadable rows is unreadable as a whole. */
const MAX_UNREADABLE_ROWS = 1_000;

/**
 * Creates a collector of the rows of a list that could not be parsed. Counts equal rows once. `readKey` finds the key of a
 * row.
 */
function createUnreadableRowCollector(readKey: (row: UnreadableRow['object']) => RowKey | null) {
  const rows = new Map<string, { readonly key: RowKey | null; readonly error: RegistryError }>();

  return {
    /** Adds a row. Throws its error if there are too many unreadable rows. */
    add: ({ object: row, error }: UnreadableRow): void => {
      rows.set(hashObjectText(row.text), { key: readKey(row), error });
      if (rows.size > MAX_UNREADABLE_ROWS) throw error;
    },
    listKeys: (): readonly (RowKey | null)[] => [...rows.values()].map(({ key }) => key),
    /** Throws if several rows arrived and none could be parsed. */
    assertSomeReadable(seenRows: number): void {
      // If no row can be read, the list has another shape than expected.
      const [first] = rows.values();
      if (first !== undefined && rows.size > 1 && seenRows <= rows.size) throw first.error;
    },
    /** Returns the fault to report for unreadable rows, or null if every row could be parsed. */
    createFault(): ReadFault | null {
      if (rows.size === 0) return null;
      const errors = [...rows.values()].map(({ error }) => error.message);
      const list = joinWithOmittedCount(errors.slice(0, MAX_NAMED_ROWS), rows.size, '; ');
      return { code: 'rows_unreadable', message: `rows could not be read and were left out: ${list}` };
    },
  };
}

/**
 * Creates a filter that drops the rows of other organizations. It counts the dropped rows, and keeps the ids of some of them for
 * the error message. The id of a row is the value of the first of `keyColumns`.
 */
function createForeignRowFilter<Item extends object>(
  organizationId: string,
  keyColumns: readonly MirrorColumn<Item>[],
) {
  const [keyColumn] = keyColumns;
  const expectedOwner = organizationId.toLowerCase();
  const named: string[] = [];
  let foreignCount = 0;

  /** Whether an item belongs to the organization or names no owner. Counts the items of other organizations. */
  function isOwnItem(item: Item): boolean {
    const owner = 'organizationId' in item ? item.organizationId : null;
    if (typeof owner !== 'string' || owner.toLowerCase() === expectedOwner) return true;
    foreignCount += 1;
    if (named.length < MAX_NAMED_ROWS) named.push(`${keyColumn?.getValue(item)} of ${owner}`);
    return false;
  }

  return {
    /** Returns the items without foreign ones. Items that name no owner are kept. */
    remove: (items: readonly Item[]): readonly Item[] => items.filter(isOwnItem),
    /** Returns the fault to report for the dropped rows of other organizations, or null if no row was dropped. */
    createFault(): ReadFault | null {
      if (foreignCount === 0) return null;
      const list = joinWithOmittedCount(named, foreignCount, ', ');
      const message = `the list contained rows of other organizations, which were left out: ${list}`;
      return { code: 'foreign_rows', message };
    },
  };
}

/** Joins texts and appends how many texts were omitted, such as `a, b and 3 more`. */
function joinWithOmittedCount(texts: readonly string[], totalCount: number, separator: string): string {
  const more = totalCount > texts.length ? ` and ${totalCount - texts.length} more` : '';
  return `${texts.join(separator)}${more}`;
}
