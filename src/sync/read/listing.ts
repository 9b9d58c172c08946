import type { Fault, Key } from '../../mirror/port.js';
import { RegistryError } from '../../registry/errors.js';
import { hashObjectText } from '../../registry/json/json-object.js';
import type { ListPage, UnreadableRow } from '../../registry/read-types.js';
import type { Column } from '../../resources/columns.js';
import type { ListEntry } from '../../resources/entry.js';
import type { Step } from '../installation/step.js';
import type { Source } from '../sources.js';

const DAY_SECONDS = 86_400;

interface Listed {
  /** Why this is not the whole list. */
  readonly flaw: Fault | null;
  /** Names the rows that could not be read; null where there were none. */
  readonly unreadable: Fault | null;
  /** How many rows the registry says the list has; null where it does not say. */
  readonly total: number | null;
  /** How often to read it from now on where nothing announces a change. */
  readonly everySeconds: number | null;
  /** Rows that a page was asked for in the end; null where there are no pages. */
  readonly pageSize: number | null;
}

/** What is found of a whole list while its parts come. */
export function createListing<Item extends object>(
  { organizationId, observed, now, client }: Step,
  { kind, nextEnd, isOpen, keyOfUnreadable }: Source<Item>,
  { key, every }: Pick<ListEntry<Item>, 'key' | 'every'>,
) {
  const own = createOwnRows(organizationId, key);
  const unreadable = createUnreadableRows(keyOfUnreadable);
  let last: ListPage<Item> | null = null;
  let open = false;

  return {
    /** A part as it comes. */
    take: (items: readonly Item[], page: ListPage<Item> | null): void => {
      const reservationEnd = nextEnd?.(items, now() + (client.http.clockSkewMs() ?? 0)) ?? null;
      if (reservationEnd !== null)
        observed.reservationEnd = Math.min(observed.reservationEnd ?? reservationEnd, reservationEnd);
      open ||= isOpen !== undefined && items.some(isOpen);
      last = page;
    },
    own: own.of,
    leaveOut: unreadable.add,
    unreadableKeys: unreadable.keys,
    /** When the last part was taken, and so many rows were seen. Throws where that cannot be the last, and where too little could be read. */
    end: (seen: number): Listed => {
      if (kind === 'paged') demandEnd(last, seen);
      unreadable.demandOthers(seen);
      return {
        flaw: own.flaw(),
        unreadable: unreadable.fault(),
        total: last?.total ?? null,
        everySeconds: every === 'day' && !open ? DAY_SECONDS : null,
        pageSize: last?.limit ?? null,
      };
    },
  };
}

function demandEnd(last: ListPage<unknown> | null, seen: number): void {
  if (last !== null && (last.end === 'complete' || last.total === seen)) return;
  const came = last?.end ?? 'missing';
  throw new RegistryError('bad_answer', `the list did not end as lists do: its last page is ${came}`);
}

const NAMED_AT_MOST = 3;
/** An answer with more unreadable rows is unreadable as a whole. */
const UNREADABLE_AT_MOST = 1_000;

/** The unreadable rows of one read. A row that comes again on a later page counts once. */
function createUnreadableRows(keyOf: (row: UnreadableRow['object']) => Key | null) {
  const rows = new Map<string, { readonly key: Key | null; readonly error: RegistryError }>();

  return {
    add: ({ object: row, error }: UnreadableRow): void => {
      rows.set(hashObjectText(row.text), { key: keyOf(row), error });
      if (rows.size > UNREADABLE_AT_MOST) throw error;
    },
    keys: (): readonly (Key | null)[] => [...rows.values()].map(({ key }) => key),
    /** Throws where several rows came and none of them could be read: the list has another shape. */
    demandOthers: (seen: number): void => {
      const [first] = rows.values();
      if (first !== undefined && rows.size > 1 && seen <= rows.size) throw first.error;
    },
    fault: (): Fault | null => {
      if (rows.size === 0) return null;
      const named = [...rows.values()].slice(0, NAMED_AT_MOST).map(({ error }) => error.message);
      const more = rows.size > named.length ? ` and ${rows.size - named.length} more` : '';
      const message = `rows could not be read and were left out: ${named.join('; ')}${more}`;
      return { code: 'rows_unreadable', message };
    },
  };
}

/** Tells the rows of one read that belong to the organization from those of others that stand among them. */
function createOwnRows<Item extends object>(organizationId: string, [name]: readonly Column<Item>[]) {
  const ours = organizationId.toLowerCase();
  const named: string[] = [];
  let leftOut = 0;

  function isOurs(item: Item): boolean {
    const owner = 'organizationId' in item ? item.organizationId : null;
    if (typeof owner !== 'string' || owner.toLowerCase() === ours) return true;
    leftOut += 1;
    if (named.length < NAMED_AT_MOST) named.push(`${name?.of(item)} of ${owner}`);
    return false;
  }

  return {
    /** Without those that say that they are somebody else's. */
    of: (items: readonly Item[]): readonly Item[] => items.filter(isOurs),
    /** Names the rows that were left out; null where there were none. */
    flaw: (): Fault | null => {
      if (leftOut === 0) return null;
      const more = leftOut > named.length ? ` and ${leftOut - named.length} more` : '';
      const message = `rows of other organizations stood in the list and were left out: ${named.join(', ')}${more}`;
      return { code: 'foreign_rows', message };
    },
  };
}
