import type {
  Address,
  Credit,
  InventoryRequest,
  Member,
  Organization,
  ProjectReference,
  Reservation,
  Retirement,
} from '../registry/model.js';
import {
  amountColumns,
  type Column,
  column,
  flag,
  instant,
  projectColumns,
  text,
  vintageOf,
} from './columns.js';

/** What is read for an organization, in the words that people see in `sync_runs` and `freshness`. */
export const RESOURCES = [
  'organization',
  'warehouse',
  'reservations',
  'inventory',
  'inventory_requests',
  'retirements',
  'addresses',
  'members',
  'projects',
  'certificates',
] as const;
export type Resource = (typeof RESOURCES)[number];

/** The resources that are read as a whole list, and what stands in each. */
export interface Items {
  organization: Organization;
  warehouse: Credit;
  reservations: Reservation;
  inventory: Credit;
  inventory_requests: InventoryRequest;
  retirements: Retirement;
  addresses: Address;
  members: Member;
}
export type ListResource = keyof Items;

export const LIST_RESOURCES: readonly ListResource[] = [
  'warehouse',
  'inventory',
  'reservations',
  'inventory_requests',
  'retirements',
  'addresses',
  'members',
  'organization',
];

export function isListResource(resource: Resource): resource is ListResource {
  return LIST_RESOURCES.some(list => list === resource);
}

/** How one resource is kept: its table, its key within the organization, its columns. */
export interface Descriptor<Item> {
  readonly table: string;
  /** The column that holds the organization; the first part of the key. */
  readonly scope: 'organization_id' | 'id';
  readonly key: readonly Column<Item>[];
  readonly columns: readonly Column<Item>[];
  readonly projectOf: (item: Item) => ProjectReference | null;
}

const credits: Pick<Descriptor<Credit>, 'scope' | 'key' | 'columns' | 'projectOf'> = {
  scope: 'organization_id',
  key: [column('credit_id', item => item.creditId), column('inventory_id', item => item.inventoryId ?? '')],
  columns: [
    ...projectColumns<Credit>(),
    column('serialization', item => text(item.serialization)),
    column('vintage', vintageOf),
    column('type', item => text(item.type)),
    column('token_id', item => text(item.tokenId)),
    column('token_address', item => text(item.tokenAddress)),
    column('unit', item => text(item.unit)),
    ...amountColumns<Credit>(),
  ],
  projectOf: item => item.project,
};

export const DESCRIPTORS: { readonly [Name in ListResource]: Descriptor<Items[Name]> } = {
  organization: {
    table: 'organizations',
    scope: 'id',
    key: [],
    columns: [
      column('full_name', item => text(item.fullName)),
      column('type', item => text(item.type)),
      column('country_code', item => text(item.countryCode)),
      column('website', item => text(item.website)),
      column('is_public', item => flag(item.isPublic)),
      column('created_at', item => instant(item.createdAt)),
      column('updated_at', item => instant(item.updatedAt)),
    ],
    projectOf: () => null,
  },
  warehouse: { table: 'warehouse_credits', ...credits },
  inventory: { table: 'inventory_credits', ...credits },
  reservations: {
    table: 'reservations',
    scope: 'organization_id',
    key: [column('id', item => item.id)],
    columns: [
      column('credit_id', item => item.creditId),
      column('serialization', item => text(item.serialization)),
      column('type', item => text(item.type)),
      ...amountColumns<Reservation>(),
      ...projectColumns<Reservation>(),
      column('reserver_id', item => text(item.reserverId)),
      column('reserver_name', item => text(item.reserverName)),
      column('state', item => text(item.state)),
      column('is_complete', item => flag(item.isComplete)),
      column('reserved_to_at', item => instant(item.reservedToDate)),
      column('created_at', item => instant(item.createdAt)),
      column('updated_at', item => instant(item.updatedAt)),
    ],
    projectOf: item => item.project,
  },
  inventory_requests: {
    table: 'inventory_requests',
    scope: 'organization_id',
    key: [column('id', item => item.id)],
    columns: [
      column('credit_id', item => item.creditId),
      column('action', item => text(item.action)),
      column('state', item => text(item.state)),
      column('type', item => text(item.type)),
      column('serialization', item => text(item.serialization)),
      column('vintage', vintageOf),
      ...amountColumns<InventoryRequest>(),
      column('from_organization_id', item => text(item.fromOrganizationId)),
      column('to_organization_id', item => text(item.toOrganizationId)),
      column('to_address', item => text(item.toAddress)),
      ...projectColumns<InventoryRequest>(),
      column('tx_id', item => text(item.txId)),
      column('retirement_reason', item => text(item.retirementReason)),
      column('beneficiary', item => text(item.beneficiary)),
      column('retirement_comment', item => text(item.retirementComment)),
      column('created_at', item => instant(item.createdAt)),
      column('updated_at', item => instant(item.updatedAt)),
    ],
    projectOf: item => item.project,
  },
  retirements: {
    table: 'retirements',
    scope: 'organization_id',
    key: [column('id', item => item.id)],
    columns: [
      ...projectColumns<Retirement>(),
      column('serialization', item => text(item.serialization)),
      column('vintage', vintageOf),
      ...amountColumns<Retirement>(),
      column('reason', item => text(item.reason)),
      column('beneficiary', item => text(item.beneficiary)),
      column('comment', item => text(item.comment)),
      column('is_claimed', item => flag(item.isClaimed)),
      column('created_at', item => instant(item.createdAt)),
    ],
    projectOf: item => item.project,
  },
  addresses: {
    table: 'addresses',
    scope: 'organization_id',
    key: [column('id', item => item.id)],
    columns: [
      column('address', item => text(item.address)),
      column('name', item => text(item.name)),
      column('is_default', item => flag(item.isDefault)),
    ],
    projectOf: () => null,
  },
  members: {
    table: 'members',
    scope: 'organization_id',
    key: [column('id', item => item.id)],
    columns: [column('full_name', item => text(item.fullName)), column('email', item => text(item.email))],
    projectOf: () => null,
  },
};
