/**
 * How each list of an organization is read from the registry: `SOURCES` has one entry per list, with the call that reads
 * it in chunks and the parser of its rows. Reading a list and storing it is the work of `read/read-list.ts`.
 */
import type { RowKey } from '../mirror/port/rows.js';
import type { OrganizationClient } from '../registry/client-types.js';
import type { SourceObject } from '../registry/json/json-object.js';
import {
  createKeyParser,
  parseAddress,
  parseCredit,
  parseInventoryRequest,
  parseMember,
  parseOrganization,
  parseReservation,
  parseRetirement,
} from '../registry/json/parse-objects.js';
import {
  ADDRESS,
  CREDIT,
  INVENTORY_REQUEST,
  MEMBER,
  RESERVATION,
  RETIREMENT,
} from '../registry/object-models.js';
import { hasReservationEnded } from '../registry/reservation-state.js';
import {
  observeBatches,
  observePages,
  type ObservationOptions,
  type ObservedPage,
} from '../registry/pages/paged-lists.js';
import type { ListOptions, PagedList, ReadOptions } from '../registry/read-types.js';
import { splitWords } from '../resources/entry.js';
import type { ListItems, ListResource } from '../resources/lists.js';
import { findNextReservationEnd } from './installation/reservation-end.js';

/** Rows of a list that arrived together. `page` is null for lists without pages. */
export interface ListChunk<Item> {
  readonly items: readonly Item[];
  readonly page: ObservedPage<Item> | null;
}

/** How to read a list: the options of its client method, and those of its observation. */
type SourceReadOptions = ListOptions & ObservationOptions;

/** How one list is read from the registry. */
export interface ListSource<Item> {
  /** The shape of the response: one object, one short answer, one long answer that is parsed as it arrives, or pages. */
  readonly kind: 'one' | 'whole' | 'streamed' | 'paged';
  readonly parse: (document: SourceObject) => Item;
  /** Returns the key of a row that cannot be parsed. Returns null if its key cannot be read either. */
  readonly readUnreadableKey: (document: SourceObject) => RowKey | null;
  readonly readChunks: (
    owner: OrganizationClient,
    options: SourceReadOptions,
  ) => AsyncIterable<ListChunk<Item>>;
  /** Returns when the first of these items will end without a webhook, by the registry's clock. Returns null if none will. */
  readonly findNextEnd?: (items: readonly Item[], registryNow: number) => number | null;
  /** Whether an item may still change without a webhook. A list with open items is read in every scheduled round. */
  readonly isOpen?: (item: Item) => boolean;
  /** Reads one item by its id. Absent if the registry has no such call. */
  readonly readOne?: (owner: OrganizationClient, id: string, options: ReadOptions) => Promise<Item>;
}

const ID = ['id'] as const;
const readCreditKey = createKeyParser(CREDIT, ['creditId', 'inventoryId']);

export const SOURCES: { readonly [Name in ListResource]: ListSource<ListItems[Name]> } = {
  warehouse: createStreamedSource(parseCredit, readCreditKey, (owner, options) =>
    owner.listWarehouse(options),
  ),
  reservations: {
    ...createPagedSource(parseReservation, createKeyParser(RESERVATION, ID), (owner, options) =>
      owner.listReservations(options),
    ),
    findNextEnd: findNextReservationEnd,
    isOpen: reservation => !hasReservationEnded(reservation),
  },
  inventory: createStreamedSource(parseCredit, readCreditKey, (owner, options) =>
    owner.listInventory(options),
  ),
  inventory_requests: {
    ...createPagedSource(parseInventoryRequest, createKeyParser(INVENTORY_REQUEST, ID), (owner, options) =>
      owner.listInventoryRequests(options),
    ),
    isOpen: ({ state }) => !DECIDED_STATES.includes(state?.toLowerCase() ?? ''),
  },
  organization: createSingleSource(parseOrganization, (owner, options) => owner.readOrganization(options)),
  addresses: createWholeSource(parseAddress, createKeyParser(ADDRESS, ID), (owner, options) =>
    owner.listAddresses(options),
  ),
  members: createWholeSource(parseMember, createKeyParser(MEMBER, ID), (owner, options) =>
    owner.listMembers(options),
  ),
  retirements: {
    ...createPagedSource(parseRetirement, createKeyParser(RETIREMENT, ID), (owner, options) =>
      owner.listRetirements(options),
    ),
    readOne: (owner, id, options) => owner.readRetirement(id, options),
  },
};

/** States of a decided inventory request, as the sandbox and the registry's documentation name them. */
const DECIDED_STATES = splitWords(
  'accepted approved rejected declined cancelled canceled expired failed finished completed',
);

/** Parses one row of a list. */
type Parse<Item> = ListSource<Item>['parse'];
/** Reads the key of a row that cannot be parsed. */
type ReadUnreadableKey = ListSource<never>['readUnreadableKey'];

/** Creates the source of a resource that is a single object. It is read as a list of one item. */
function createSingleSource<Item>(
  parse: Parse<Item>,
  readObject: (owner: OrganizationClient, options: ReadOptions) => Promise<Item>,
): ListSource<Item> {
  /** Requests the object and yields it as one chunk with one item. */
  async function* readChunks(
    owner: OrganizationClient,
    options: ReadOptions,
  ): AsyncIterable<ListChunk<Item>> {
    yield { items: [await readObject(owner, options)], page: null };
  }
  return { kind: 'one', parse, readUnreadableKey: () => null, readChunks };
}

/** Returns the list of an organization whose rows the registry sends in one answer. */
type GetBatchedList<Item> = (owner: OrganizationClient, options: ReadOptions) => AsyncIterable<Item>;

/** Creates the source of a list that the registry sends whole, in one short answer. */
function createWholeSource<Item>(
  parse: Parse<Item>,
  readUnreadableKey: ReadUnreadableKey,
  getList: GetBatchedList<Item>,
): ListSource<Item> {
  return { ...createStreamedSource(parse, readUnreadableKey, getList), kind: 'whole' };
}

/** Creates the source that reads a list from one long answer without pages. `readUnreadableKey` finds keys of malformed rows. */
function createStreamedSource<Item>(
  parse: Parse<Item>,
  readUnreadableKey: ReadUnreadableKey,
  getList: GetBatchedList<Item>,
): ListSource<Item> {
  /** Yields the rows in chunks, as the answer arrives. */
  async function* readChunks(
    owner: OrganizationClient,
    options: SourceReadOptions,
  ): AsyncIterable<ListChunk<Item>> {
    for await (const items of observeBatches(getList(owner, options), options)) yield { items, page: null };
  }
  return { kind: 'streamed', parse, readUnreadableKey, readChunks };
}

/** Creates the source that reads a list page by page. `readUnreadableKey` finds the keys of malformed rows. */
function createPagedSource<Item>(
  parse: Parse<Item>,
  readUnreadableKey: ReadUnreadableKey,
  getList: (owner: OrganizationClient, options: ListOptions) => PagedList<Item>,
): ListSource<Item> {
  /** Yields the rows of each page as one chunk. */
  async function* readChunks(
    owner: OrganizationClient,
    options: SourceReadOptions,
  ): AsyncIterable<ListChunk<Item>> {
    for await (const page of observePages(getList(owner, options), options))
      yield { items: page.items, page };
  }
  return { kind: 'paged', parse, readUnreadableKey, readChunks };
}
