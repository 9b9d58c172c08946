import type {
  Address,
  Credit,
  InventoryRequest,
  Member,
  Organization,
  Reservation,
  Retirement,
} from '../registry/object-models.js';
import { toFlag } from './sql-values.js';
import {
  createAmountColumns,
  createColumn,
  createProjectColumns,
  createTextColumns,
  getVintage,
} from './mirror-columns.js';
import { parseSortOrder, type ListEntry, splitWords } from './entry.js';

/** Returns the entry unchanged. The call makes the compiler check the entry's type. */
function defineList<Item>(entry: ListEntry<Item>): ListEntry<Item> {
  return entry;
}

/** The lists of an organization, in the order in which they are read: available credits first, long lists last. */
const ENTRIES = {
  warehouse: defineCreditList('warehouse_credits', 'organization_warehouse'),
  reservations: defineList<Reservation>({
    table: 'reservations',
    scope: 'organization_id',
    readInterval: 'day',
    key: [createColumn('id', item => item.id)],
    columns: [
      ...createTextColumns<Reservation>('creditId', 'serialization', 'type'),
      ...createAmountColumns<Reservation>(),
      ...createProjectColumns<Reservation>(),
      ...createTextColumns<Reservation>('reserverId', 'reserverName', 'state'),
      createColumn('is_complete', item => toFlag(item.isComplete)),
      createColumn('reserved_to_at', item => item.reservedToDate),
      ...createTextColumns<Reservation>('createdAt', 'updatedAt'),
    ],
    hasDocument: true,
    permission: 'organization_warehouse',
    rowsExpire: true,
    display: {
      source: 'reservations_now',
      columns: splitWords(
        'state_now seconds_left amount_exact project_name organization_name reserver_name id credit_id created_at organization_id',
      ),
      order: parseSortOrder('created_at desc', 'id asc'),
    },
    getProject: item => item.project,
  }),
  inventory: defineCreditList('inventory_credits', 'organization_inventory'),
  inventory_requests: defineList<InventoryRequest>({
    table: 'inventory_requests',
    scope: 'organization_id',
    readInterval: 'day',
    key: [createColumn('id', item => item.id)],
    columns: [
      ...createTextColumns<InventoryRequest>('creditId', 'action', 'state', 'type', 'serialization'),
      createColumn('vintage', getVintage),
      ...createAmountColumns<InventoryRequest>(),
      ...createTextColumns<InventoryRequest>('fromOrganizationId', 'toOrganizationId', 'toAddress'),
      ...createProjectColumns<InventoryRequest>(),
      ...createTextColumns<InventoryRequest>('txId', 'retirementReason', 'beneficiary', 'retirementComment'),
      ...createTextColumns<InventoryRequest>('createdAt', 'updatedAt'),
    ],
    hasDocument: true,
    permission: 'organization_inventory',
    rowsExpire: true,
    display: {
      source: 'inventory_requests',
      columns: splitWords(
        'state action amount_exact project_name organization_name created_at id credit_id organization_id',
      ),
      order: parseSortOrder('created_at desc', 'id asc'),
    },
    getProject: item => item.project,
  }),
  organization: defineList<Organization>({
    table: 'organizations',
    scope: 'id',
    readInterval: 'day',
    key: [],
    columns: [
      ...createTextColumns<Organization>('fullName', 'type', 'countryCode', 'website'),
      createColumn('is_public', item => toFlag(item.isPublic)),
      ...createTextColumns<Organization>('createdAt', 'updatedAt'),
    ],
    hasDocument: true,
    permission: 'organization_info',
    display: {
      source: 'organizations',
      columns: ['full_name', 'type', 'country_code', 'id', 'website', 'valid_from'],
      order: parseSortOrder('full_name asc', 'id asc'),
    },
    getProject: () => null,
  }),
  addresses: defineList<Address>({
    table: 'addresses',
    scope: 'organization_id',
    readInterval: 'day',
    key: [createColumn('id', item => item.id)],
    columns: [
      ...createTextColumns<Address>('address', 'name'),
      createColumn('is_default', item => toFlag(item.isDefault)),
    ],
    hasDocument: true,
    permission: 'organization_info',
    display: {
      source: 'addresses',
      columns: ['name', 'organization_name', 'address', 'is_default', 'id', 'organization_id'],
      order: parseSortOrder('name asc'),
    },
    getProject: () => null,
  }),
  members: defineList<Member>({
    table: 'members',
    scope: 'organization_id',
    readInterval: 'day',
    key: [createColumn('id', item => item.id)],
    columns: createTextColumns<Member>('fullName', 'email'),
    hasDocument: true,
    permission: 'organization_members',
    display: {
      source: 'members',
      columns: ['full_name', 'email', 'organization_name', 'id', 'organization_id'],
      order: parseSortOrder('full_name asc'),
    },
    getProject: () => null,
  }),
  retirements: defineList<Retirement>({
    table: 'retirements',
    scope: 'organization_id',
    readInterval: 'round',
    key: [createColumn('id', item => item.id)],
    columns: [
      ...createProjectColumns<Retirement>(),
      ...createTextColumns<Retirement>('serialization'),
      createColumn('vintage', getVintage),
      ...createAmountColumns<Retirement>(),
      ...createTextColumns<Retirement>('reason', 'beneficiary', 'comment'),
      createColumn('is_claimed', item => toFlag(item.isClaimed)),
      createColumn('created_at', item => item.createdAt),
    ],
    hasDocument: true,
    permission: 'organization_info',
    display: {
      source: 'retirements',
      columns: splitWords(
        'created_at amount_exact beneficiary project_name vintage organization_name id organization_id',
      ),
      order: parseSortOrder('created_at desc'),
    },
    getProject: item => item.project,
  }),
};

/** The type of the items of a list entry. */
type ItemOf<Entry> = Entry extends ListEntry<infer Item> ? Item : never;

/** The name of a list of an organization. */
export type ListResource = keyof typeof ENTRIES;
/** The type of the items of each list. */
export type ListItems = { readonly [Name in ListResource]: ItemOf<(typeof ENTRIES)[Name]> };

/** A resource that is read for an organization, by the name that people see in `syncs` and `freshness`. */
export type Resource = ListResource | 'projects' | 'certificates';

export const LISTS: { readonly [Name in ListResource]: ListEntry<ListItems[Name]> } = ENTRIES;

export const LIST_RESOURCES: readonly ListResource[] = Object.keys(LISTS).filter(isListResource);

export function isListResource(resource: string): resource is ListResource {
  return Object.hasOwn(LISTS, resource);
}

/** Creates the entry for a list of credits, such as the warehouse. */
function defineCreditList(
  table: string,
  permission: 'organization_warehouse' | 'organization_inventory',
): ListEntry<Credit> {
  return {
    table,
    scope: 'organization_id',
    readInterval: 'round',
    key: [
      createColumn('credit_id', item => item.creditId),
      createColumn('inventory_id', item => item.inventoryId ?? ''),
    ],
    columns: [
      ...createProjectColumns<Credit>(),
      ...createTextColumns<Credit>('serialization'),
      createColumn('vintage', getVintage),
      ...createTextColumns<Credit>('type', 'tokenId', 'tokenAddress', 'unit'),
      ...createAmountColumns<Credit>(),
    ],
    hasDocument: true,
    permission,
    display: {
      source: table,
      columns: splitWords(
        'project_name vintage type amount_exact organization_name serialization credit_id organization_id',
      ),
      order: parseSortOrder('amount_micro desc'),
    },
    getProject: item => item.project,
  };
}
