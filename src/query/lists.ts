import type { Sqlite } from '../engines/sqlite/open.js';
import type { Value } from '../engines/contract/tables.js';

/** What a list shows of one table or view. Names come from here, never from a person. */
export interface ListDefinition {
  readonly from: string;
  readonly columns: readonly string[];
  readonly key: string;
  /** Which rows are of one organization. */
  readonly ofOrganization: string;
  readonly order: string;
}

/** What is shown of a credit, here and in the history. */
export const CREDIT_COLUMNS = [
  'credit_id',
  'project_name',
  'vintage',
  'type',
  'amount_exact',
  'serialization',
] as const;

const OWNED = 'organization_id = @organizationId';

const CREDITS = {
  columns: ['organization_id', ...CREDIT_COLUMNS],
  key: 'credit_id',
  ofOrganization: OWNED,
  order: 'organization_id, credit_id, inventory_id',
} as const;

export const LISTS = {
  installations: {
    from: 'installations',
    columns: ['id', 'organization_id', 'state', 'permissions', 'valid_from'],
    key: 'id',
    ofOrganization: OWNED,
    order: 'organization_id, id',
  },
  organizations: {
    from: 'organizations',
    columns: ['id', 'full_name', 'type', 'country_code', 'website', 'valid_from'],
    key: 'id',
    ofOrganization: 'id = @organizationId',
    order: 'full_name, id',
  },
  warehouse: {
    from: 'warehouse_credits',
    ...CREDITS,
  },
  inventory: {
    from: 'inventory_credits',
    ...CREDITS,
  },
  reservations: {
    from: 'reservations_now',
    columns: [
      'id',
      'organization_id',
      'credit_id',
      'amount_exact',
      'state_now',
      'seconds_left',
      'reserver_name',
      'created_at',
    ],
    key: 'id',
    ofOrganization: OWNED,
    order: 'created_at DESC, id',
  },
  inventoryRequests: {
    from: 'inventory_requests',
    columns: ['id', 'organization_id', 'action', 'state', 'credit_id', 'amount_exact', 'created_at'],
    key: 'id',
    ofOrganization: OWNED,
    order: 'created_at DESC, id',
  },
  retirements: {
    from: 'retirements',
    columns: [
      'id',
      'organization_id',
      'created_at',
      'amount_exact',
      'beneficiary',
      'project_name',
      'vintage',
    ],
    key: 'id',
    ofOrganization: OWNED,
    order: 'organization_id DESC, created_at DESC',
  },
  projects: {
    from: 'projects',
    columns: ['id', 'num', 'full_name', 'status', 'country_code', 'sector', 'type'],
    key: 'id',
    ofOrganization:
      'id IN (SELECT project_id FROM project_references WHERE organization_id = @organizationId)',
    order: 'num, id',
  },
  certificates: {
    from: 'certificates',
    columns: ['retirement_id', 'organization_id', 'state', 'file', 'size', 'fetched_at', 'due_at', 'error'],
    key: 'retirement_id',
    ofOrganization: OWNED,
    order: 'organization_id, retirement_id',
  },
} as const satisfies Record<string, ListDefinition>;

export interface ListFilter {
  readonly organizationId: string | null;
  /** Null for all of them. */
  readonly limit: number | null;
}

type Row = Record<string, Value>;

/** Keys begin with the organization: without it, one row is searched for in all of them. */
export const KNOWN_ORGANIZATION = 'organization_id IN (SELECT organization_id FROM resource_states)';

export function readList(db: Sqlite, list: ListDefinition, filter: ListFilter): IterableIterator<Row> {
  const where = filter.organizationId === null ? '' : `WHERE ${list.ofOrganization}`;
  return db
    .prepare<[object], Row>(
      `SELECT ${list.columns.join(', ')} FROM ${list.from} ${where} ORDER BY ${list.order} LIMIT @limit`,
    )
    .safeIntegers()
    .iterate({ organizationId: filter.organizationId, limit: filter.limit ?? -1 });
}

/** Every row with this key: a credit may stand in several organizations. */
export function readByKey(
  db: Sqlite,
  list: ListDefinition,
  key: string,
  organizationId: string | null = null,
): Row[] {
  const isKeyedByOrganization = list.ofOrganization === OWNED && list.from !== 'installations';
  const known = isKeyedByOrganization ? `${KNOWN_ORGANIZATION} AND` : '';
  const owned = organizationId === null ? '' : `AND ${list.ofOrganization}`;
  return db
    .prepare<[object], Row>(`SELECT * FROM ${list.from} WHERE ${known} ${list.key} = @key ${owned}`)
    .safeIntegers()
    .all({ key, organizationId });
}
