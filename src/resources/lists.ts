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
import { type ListEntry } from './entry.js';

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
    source: 'reservations_now',
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
    source: 'inventory_requests',
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
    source: 'organizations',
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
    source: 'addresses',
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
    source: 'members',
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
    source: 'retirements',
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

/** Defines how the credits of a warehouse or an inventory are mirrored into a table. */
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
    source: table,
    getProject: item => item.project,
  };
}
