import type { Key } from '../mirror/port.js';
import type { OrganizationClient } from '../registry/clients.js';
import type { SourceObject as Document } from '../registry/json/json-object.js';
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
import { ADDRESS, CREDIT, INVENTORY_REQUEST, MEMBER, RESERVATION, RETIREMENT } from '../registry/model.js';
import { hasReservationEnded } from '../registry/reservation-state.js';
import type { ListOptions, ListPage, ReadOptions } from '../registry/read-types.js';
import { words } from '../resources/entry.js';
import type { Items, ListResource } from '../resources/lists.js';
import { nextReservationEnd } from './installation/reservation-end.js';

/** Some rows as they come; `page` is null where they are a part of one answer. */
export interface Part<Item> {
  readonly items: readonly Item[];
  readonly page: ListPage<Item> | null;
}

/** How one list is asked for. */
export interface Source<Item> {
  /** One object, one short answer, one long one that is written as it comes, or pages. */
  readonly kind: 'one' | 'whole' | 'streamed' | 'paged';
  readonly parse: (document: Document) => Item;
  /** The key of an unreadable row; null where that cannot be read either. */
  readonly keyOfUnreadable: (document: Document) => Key | null;
  readonly parts: (owner: OrganizationClient, options: ListOptions) => AsyncIterable<Part<Item>>;
  /** When one of these ends by itself next, by the registry's clock, without an event that tells of it. */
  readonly nextEnd?: (items: readonly Item[], registryNow: number) => number | null;
  /** While one of these is there the list is read each round, however seldom it is read else. */
  readonly isOpen?: (item: Item) => boolean;
  /** Asks for one that is missing from the list. Absent where the registry answers no single one. */
  readonly readOne?: (owner: OrganizationClient, id: string, options: ReadOptions) => Promise<Item>;
}

const ID = ['id'];
const keyOfCredit = createKeyParser(CREDIT, ['creditId', 'inventoryId']);

export const SOURCES: { readonly [Name in ListResource]: Source<Items[Name]> } = {
  warehouse: streamed(parseCredit, keyOfCredit, (owner, options) => owner.readWarehouse(options)),
  reservations: {
    ...paged(parseReservation, createKeyParser(RESERVATION, ID), (owner, options) =>
      owner.listReservations(options),
    ),
    nextEnd: nextReservationEnd,
    isOpen: reservation => !hasReservationEnded(reservation),
  },
  inventory: streamed(parseCredit, keyOfCredit, (owner, options) => owner.readInventory(options)),
  inventory_requests: {
    ...paged(parseInventoryRequest, createKeyParser(INVENTORY_REQUEST, ID), (owner, options) =>
      owner.listInventoryRequests(options),
    ),
    isOpen: ({ state }) => !DECIDED.includes(state?.toLowerCase() ?? ''),
  },
  organization: alone(parseOrganization, (owner, options) => owner.readOrganization(options)),
  addresses: whole(parseAddress, createKeyParser(ADDRESS, ID), (owner, options) =>
    owner.readAddresses(options),
  ),
  members: whole(parseMember, createKeyParser(MEMBER, ID), (owner, options) => owner.readMembers(options)),
  retirements: {
    ...paged(parseRetirement, createKeyParser(RETIREMENT, ID), (owner, options) =>
      owner.listRetirements(options),
    ),
    readOne: (owner, id, options) => owner.readRetirement(id, options),
  },
};

/** Words that the sandbox and the registry's pages have for a request that nobody waits for any more. */
const DECIDED = words(
  'accepted approved rejected declined cancelled canceled expired failed finished completed',
);

type Parse<Item> = Source<Item>['parse'];
type KeyOf = Source<never>['keyOfUnreadable'];

/** An object that cannot be read is no list with a row less. */
function alone<Item>(
  parse: Parse<Item>,
  ask: (owner: OrganizationClient, options: ReadOptions) => Promise<Item>,
): Source<Item> {
  return {
    ...whole(
      parse,
      () => null,
      async (owner, options) => [await ask(owner, options)],
    ),
    kind: 'one',
  };
}

function whole<Item>(
  parse: Parse<Item>,
  keyOfUnreadable: KeyOf,
  ask: (owner: OrganizationClient, options: ReadOptions) => Promise<readonly Item[]>,
): Source<Item> {
  async function* parts(owner: OrganizationClient, options: ReadOptions): AsyncIterable<Part<Item>> {
    yield { items: await ask(owner, options), page: null };
  }
  return { kind: 'whole', parse, keyOfUnreadable, parts };
}

function streamed<Item>(
  parse: Parse<Item>,
  keyOfUnreadable: KeyOf,
  ask: (owner: OrganizationClient, options: ReadOptions) => AsyncIterable<readonly Item[]>,
): Source<Item> {
  async function* parts(owner: OrganizationClient, options: ReadOptions): AsyncIterable<Part<Item>> {
    for await (const items of ask(owner, options)) yield { items, page: null };
  }
  return { kind: 'streamed', parse, keyOfUnreadable, parts };
}

function paged<Item>(
  parse: Parse<Item>,
  keyOfUnreadable: KeyOf,
  ask: (owner: OrganizationClient, options: ListOptions) => AsyncIterable<ListPage<Item>>,
): Source<Item> {
  async function* parts(owner: OrganizationClient, options: ListOptions): AsyncIterable<Part<Item>> {
    for await (const page of ask(owner, options)) yield { items: page.items, page };
  }
  return { kind: 'paged', parse, keyOfUnreadable, parts };
}
