/** What must hold in any mirror at any moment, whatever the registry said. */
export interface Law {
  readonly law: string;
  /** Answers one column `found` for each row that breaks the law. `:now` is the present. */
  readonly sql: string;
}

/** The tables that have versions, and the key of each. */
export const KEYS: Readonly<Record<string, readonly string[]>> = {
  installations: ['id'],
  organizations: ['id'],
  projects: ['id'],
  warehouse_credits: ['organization_id', 'credit_id', 'inventory_id'],
  inventory_credits: ['organization_id', 'credit_id', 'inventory_id'],
  reservations: ['organization_id', 'id'],
  inventory_requests: ['organization_id', 'id'],
  retirements: ['organization_id', 'id'],
  members: ['organization_id', 'id'],
  addresses: ['organization_id', 'id'],
  certificates: ['organization_id', 'retirement_id'],
};

/** The table of each resource that is read as a list. */
export const LISTED: Readonly<Record<string, string>> = {
  organization: 'organizations',
  warehouse: 'warehouse_credits',
  inventory: 'inventory_credits',
  reservations: 'reservations',
  inventory_requests: 'inventory_requests',
  retirements: 'retirements',
  members: 'members',
  addresses: 'addresses',
};

/** The column that holds the organization of a row. */
export function scopeOf(table: string): string {
  return table === 'organizations' ? 'id' : 'organization_id';
}

/** What stands in only one of two selections. */
export function differ(one: string, other: string, named: string): string {
  return `SELECT DISTINCT ${named} AS found FROM (
    SELECT * FROM (${one} EXCEPT ${other}) UNION ALL SELECT * FROM (${other} EXCEPT ${one}))`;
}
