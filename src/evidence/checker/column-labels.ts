/** Labels of the lists. */
const LIST_LABELS: Readonly<Record<string, string>> = {
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

/** Labels of the columns, in the order in which tables show them. Other columns come last, under their own names. */
const COLUMN_LABELS: Readonly<Record<string, string>> = {
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
  leafIndex: 'Leaf',
};

/** Columns that are never shown, because they repeat others or are the same for every row of a list. */
const HIDDEN_COLUMNS = new Set(['kind', 'resource', 'amount', 'amount_micro']);
/** Columns that are shown unless the reader asks for all. */
const MAIN_COLUMNS = new Set(
  Object.keys(COLUMN_LABELS).slice(0, Object.keys(COLUMN_LABELS).indexOf('id') + 1),
);
/** Columns whose values are 1 or 0. */
const FLAG_COLUMNS = new Set(['is_claimed', 'is_complete', 'is_public', 'is_default']);

/** Returns the label of a list; its own name if it has none. */
export function formatListName(list: string): string {
  return LIST_LABELS[list] ?? list;
}

/** Returns the label of a column; its own name if it has none. */
export function formatColumnName(column: string): string {
  return COLUMN_LABELS[column] ?? column;
}

/**
 * Returns those of `columns` that a table shows, in the order in which `COLUMN_LABELS` lists them. Without `all`, returns only the most
 * important ones. Never returns `HIDDEN_COLUMNS`, which repeat other columns.
 */
export function chooseColumns(columns: Iterable<string>, all: boolean): string[] {
  const order = Object.keys(COLUMN_LABELS);
  const getRank = (column: string) => (order.includes(column) ? order.indexOf(column) : order.length);
  return [...columns]
    .filter(column => !HIDDEN_COLUMNS.has(column) && (all || MAIN_COLUMNS.has(column)))
    .toSorted((left, right) => getRank(left) - getRank(right));
}

/** Returns true for a column whose values are 1 or 0. */
export function isFlag(column: string): boolean {
  return FLAG_COLUMNS.has(column);
}
