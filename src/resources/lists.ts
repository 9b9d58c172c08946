import type {
  Address,
  Credit,
  InventoryRequest,
  Member,
  Organization,
  Reservation,
  Retirement,
} from '../registry/model.js';
import { column, toFlag, textColumns } from './columns.js';
import { amountColumns, projectColumns, vintageOf } from './common-columns.js';
import { sortBy, type ListEntry, splitWords } from './entry.js';

const list = <Item>(entry: ListEntry<Item>): ListEntry<Item> => entry;

/** What is read as a whole list, in the order in which it is read: what is available first, the long lists last. */
const ENTRIES = {
  warehouse: credits('warehouse_credits', 'organization_warehouse'),
  reservations: list<Reservation>({
    table: 'reservations',
    scope: 'organization_id',
    readInterval: 'day',
    key: [column('id', item => item.id)],
    columns: [
      ...textColumns<Reservation>('creditId', 'serialization', 'type'),
      ...amountColumns<Reservation>(),
      ...projectColumns<Reservation>(),
      ...textColumns<Reservation>('reserverId', 'reserverName', 'state'),
      column('is_complete', item => toFlag(item.isComplete)),
      column('reserved_to_at', item => item.reservedToDate),
      ...textColumns<Reservation>('createdAt', 'updatedAt'),
    ],
    hasDocument: true,
    permission: 'organization_warehouse',
    expiresByItself: true,
    display: {
      from: 'reservations_now',
      columns: splitWords(
        'state_now seconds_left amount_exact project_name organization_name reserver_name id credit_id created_at organization_id',
      ),
      order: sortBy('created_at desc', 'id asc'),
    },
    projectOf: item => item.project,
  }),
  inventory: credits('inventory_credits', 'organization_inventory'),
  inventory_requests: list<InventoryRequest>({
    table: 'inventory_requests',
    scope: 'organization_id',
    readInterval: 'day',
    key: [column('id', item => item.id)],
    columns: [
      ...textColumns<InventoryRequest>('creditId', 'action', 'state', 'type', 'serialization'),
      column('vintage', vintageOf),
      ...amountColumns<InventoryRequest>(),
      ...textColumns<InventoryRequest>('fromOrganizationId', 'toOrganizationId', 'toAddress'),
      ...projectColumns<InventoryRequest>(),
      ...textColumns<InventoryRequest>('txId', 'retirementReason', 'beneficiary', 'retirementComment'),
      ...textColumns<InventoryRequest>('createdAt', 'updatedAt'),
    ],
    hasDocument: true,
    permission: 'organization_inventory',
    expiresByItself: true,
    display: {
      from: 'inventory_requests',
      columns: splitWords(
        'state action amount_exact project_name organization_name created_at id credit_id organization_id',
      ),
      order: sortBy('created_at desc', 'id asc'),
    },
    projectOf: item => item.project,
  }),
  organization: list<Organization>({
    table: 'organizations',
    scope: 'id',
    readInterval: 'day',
    key: [],
    columns: [
      ...textColumns<Organization>('fullName', 'type', 'countryCode', 'website'),
      column('is_public', item => toFlag(item.isPublic)),
      ...textColumns<Organization>('createdAt', 'updatedAt'),
    ],
    hasDocument: true,
    permission: 'organization_info',
    display: {
      from: 'organizations',
      columns: ['full_name', 'type', 'country_code', 'id', 'website', 'valid_from'],
      order: sortBy('full_name asc', 'id asc'),
    },
    projectOf: () => null,
  }),
  addresses: list<Address>({
    table: 'addresses',
    scope: 'organization_id',
    readInterval: 'day',
    key: [column('id', item => item.id)],
    columns: [
      ...textColumns<Address>('address', 'name'),
      column('is_default', item => toFlag(item.isDefault)),
    ],
    hasDocument: true,
    permission: 'organization_info',
    display: {
      from: 'addresses',
      columns: ['name', 'organization_name', 'address', 'is_default', 'id', 'organization_id'],
      order: sortBy('name asc'),
    },
    projectOf: () => null,
  }),
  members: list<Member>({
    table: 'members',
    scope: 'organization_id',
    readInterval: 'day',
    key: [column('id', item => item.id)],
    columns: textColumns<Member>('fullName', 'email'),
    hasDocument: true,
    permission: 'organization_members',
    display: {
      from: 'members',
      columns: ['full_name', 'email', 'organization_name', 'id', 'organization_id'],
      order: sortBy('full_name asc'),
    },
    projectOf: () => null,
  }),
  retirements: list<Retirement>({
    table: 'retirements',
    scope: 'organization_id',
    readInterval: 'round',
    key: [column('id', item => item.id)],
    columns: [
      ...projectColumns<Retirement>(),
      ...textColumns<Retirement>('serialization'),
      column('vintage', vintageOf),
      ...amountColumns<Retirement>(),
      ...textColumns<Retirement>('reason', 'beneficiary', 'comment'),
      column('is_claimed', item => toFlag(item.isClaimed)),
      column('created_at', item => item.createdAt),
    ],
    hasDocument: true,
    permission: 'organization_info',
    display: {
      from: 'retirements',
      columns: splitWords(
        'created_at amount_exact beneficiary project_name vintage organization_name id organization_id',
      ),
      order: sortBy('created_at desc'),
    },
    projectOf: item => item.project,
  }),
};

type ItemOf<Entry> = Entry extends ListEntry<infer Item> ? Item : never;

export type ListResource = keyof typeof ENTRIES;
/** What stands in each list. */
export type ListItems = { readonly [Name in ListResource]: ItemOf<(typeof ENTRIES)[Name]> };

/** What is read for an organization, in the words that people see in `syncs` and `freshness`. */
export type Resource = ListResource | 'projects' | 'certificates';

export const LISTS: { readonly [Name in ListResource]: ListEntry<ListItems[Name]> } = ENTRIES;

export const LIST_RESOURCES: readonly ListResource[] = Object.keys(LISTS).filter(isListResource);

export function isListResource(resource: string): resource is ListResource {
  return Object.hasOwn(LISTS, resource);
}

function credits(
  table: string,
  permission: 'organization_warehouse' | 'organization_inventory',
): ListEntry<Credit> {
  return {
    table,
    scope: 'organization_id',
    readInterval: 'round',
    key: [column('credit_id', item => item.creditId), column('inventory_id', item => item.inventoryId ?? '')],
    columns: [
      ...projectColumns<Credit>(),
      ...textColumns<Credit>('serialization'),
      column('vintage', vintageOf),
      ...textColumns<Credit>('type', 'tokenId', 'tokenAddress', 'unit'),
      ...amountColumns<Credit>(),
    ],
    hasDocument: true,
    permission,
    display: {
      from: table,
      columns: splitWords(
        'project_name vintage type amount_exact organization_name serialization credit_id organization_id',
      ),
      order: sortBy('amount_micro desc'),
    },
    projectOf: item => item.project,
  };
}
