const LISTS: Readonly<Record<string, string>> = {
  retirements: 'Retirements',
  certificates: 'Certificates',
  inventory: 'Credits in the inventory',
  warehouse: 'Credits in the warehouse',
  reservations: 'Reservations',
  inventory_requests: 'Inventory requests',
  organization: 'Organizations',
  addresses: 'Addresses',
  installation: 'Installations',
  members: 'Members',
  projects: 'Projects',
};

/** Labels of the columns, in the order in which they are shown. Columns that are not here come last, under their own names. */
const COLUMNS: Readonly<Record<string, string>> = {
  created_at: 'Dated by the registry',
  amount_exact: 'Tonnes',
  full_name: 'Name',
  organization_id: 'Organization',
  project_name: 'Project',
  vintage: 'Vintage',
  type: 'Type',
  beneficiary: 'Beneficiary',
  reason: 'Reason',
  comment: 'Comment',
  is_claimed: 'Claimed',
  action: 'Action',
  state: 'State',
  retirement_reason: 'Reason',
  retirement_comment: 'Comment',
  retirement_id: 'Retirement',
  credit_id: 'Credit',
  serialization: 'Serial number',
  valid_from: 'Observed',
  sealed: 'Sealed',
  address: 'Address',
  name: 'Name',
  id: 'Id',
  reserver_name: 'Reserved by',
  reserved_to_at: 'Reserved until',
  is_complete: 'Completed',
  fetched_at: 'Downloaded',
  size: 'Bytes',
  sha256: 'SHA-256',
  project_id: 'Project id',
  inventory_id: 'Inventory',
  token_id: 'Token',
  token_address: 'Token address',
  unit: 'Unit',
  fault: 'Why the amount is not usable',
  reserver_id: 'Reserved by (id)',
  from_organization_id: 'From organization',
  to_organization_id: 'To organization',
  to_address: 'To address',
  tx_id: 'Transaction',
  country_code: 'Country',
  website: 'Website',
  is_public: 'Public',
  is_default: 'Default',
  app_id: 'App',
  permissions: 'Permissions',
  updated_at: 'Changed, says the registry',
  sync_id: 'Read',
  version: 'Version',
  ended_version: 'Replaced version',
  ended_at: 'Replaced at',
  ended_by: 'Replaced by read',
  document_sha256: 'SHA-256 of the JSON',
  document: 'JSON of the registry',
  place: 'Leaf',
};

/** Columns that repeat others, or that say the same of every row of a list. */
const HIDDEN = new Set(['kind', 'resource', 'amount', 'amount_micro']);
/** Columns that are shown at first. */
const MAIN = new Set(Object.keys(COLUMNS).slice(0, Object.keys(COLUMNS).indexOf('id') + 1));
/** Columns whose values are 1 or 0. */
const FLAGS = new Set(['is_claimed', 'is_complete', 'is_public', 'is_default']);

/** Returns the name of a list as people know it. */
export function formatListName(list: string): string {
  return LISTS[list] ?? list;
}

/** Returns the label of a column as people know it. */
export function formatColumnName(column: string): string {
  return COLUMNS[column] ?? column;
}

/** Returns the columns in the order in which they are shown; without `all`, only the most important ones. */
export function chooseColumns(columns: Iterable<string>, all: boolean): string[] {
  const order = Object.keys(COLUMNS);
  const rank = (column: string) => (order.includes(column) ? order.indexOf(column) : order.length);
  return [...columns]
    .filter(column => !HIDDEN.has(column) && (all || MAIN.has(column)))
    .toSorted((left, right) => rank(left) - rank(right));
}

export function isFlag(column: string): boolean {
  return FLAGS.has(column);
}
