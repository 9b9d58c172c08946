import type { Sqlite } from '../engines/sqlite/open.js';
import { LISTS } from '../resources/lists.js';
import type { Value } from '../engines/contract/tables.js';

/** Of one organization. */
const CREDIT_COLUMNS = LISTS.warehouse.shown.columns.filter(name => name !== 'organization_id');

export const DATED = {
  warehouse: {
    table: 'warehouse_credits',
    columns: [...CREDIT_COLUMNS, 'valid_from', 'valid_to'],
    order: 'credit_id, inventory_id',
  },
  inventory: {
    table: 'inventory_credits',
    columns: [...CREDIT_COLUMNS, 'valid_from', 'valid_to'],
    order: 'credit_id, inventory_id',
  },
  retirements: {
    table: 'retirements',
    columns: [
      'id',
      'created_at',
      'amount_exact',
      'beneficiary',
      'reason',
      'project_name',
      'vintage',
      'valid_from',
      'valid_to',
    ],
    order: 'created_at, id',
  },
} as const;
export type DatedResource = keyof typeof DATED;

export interface AsOf {
  readonly organizationId: string;
  readonly resource: DatedResource;
  /** An instant in the form of the mirror's own. */
  readonly at: string;
}

/** End of the first complete read: what was before it is not known. Null where there was none. */
export function readKnownSince(db: Sqlite, { organizationId, resource }: Omit<AsOf, 'at'>): string | null {
  const row = db
    .prepare<[string, string], { first_complete_at: string | null }>(
      'SELECT first_complete_at FROM resource_states WHERE organization_id = ? AND resource = ?',
    )
    .get(organizationId, resource);
  return row?.first_complete_at ?? null;
}

/** Start of the last complete read that had ended by the instant, as far back as sync runs are kept. */
export function readLastReadBefore(db: Sqlite, { organizationId, resource, at }: AsOf): string | null {
  const row = db
    .prepare<[string, string, string], { started_at: string | null }>(
      `SELECT max(started_at) AS started_at FROM sync_runs
      WHERE organization_id = ? AND resource = ? AND state = 'complete' AND finished_at <= ?`,
    )
    .get(organizationId, resource, at);
  return row?.started_at ?? null;
}

export interface ReadUnderWay {
  readonly from: string;
  /** Null where it still runs. */
  readonly to: string | null;
}

/** The read that was under way at the instant and changed something: what it had not told by then is not shown. */
export function readReadAt(db: Sqlite, asOf: AsOf): ReadUnderWay | null {
  const row = db
    .prepare<[AsOf], ReadUnderWay>(
      `SELECT started_at AS "from", finished_at AS "to" FROM sync_runs
      WHERE organization_id = @organizationId AND resource = @resource
        AND started_at <= @at AND (finished_at IS NULL OR finished_at > @at)
        AND (state = 'running' OR rows_added + rows_changed + rows_removed > 0)
      ORDER BY id DESC LIMIT 1`,
    )
    .get(asOf);
  return row ?? null;
}

/** The rows that were true at the instant, as far as the mirror had been told by then. */
export function readAsOf(
  db: Sqlite,
  { organizationId, resource, at }: AsOf,
): IterableIterator<Record<string, Value>> {
  const { table, columns, order } = DATED[resource];
  return db
    .prepare<[object], Record<string, Value>>(
      `SELECT ${columns.join(', ')} FROM ${table}_history
      WHERE organization_id = @organizationId AND valid_from <= @at AND (valid_to IS NULL OR valid_to > @at)
      ORDER BY ${order}`,
    )
    .safeIntegers()
    .iterate({ organizationId, at });
}

export function readOrganizationIds(db: Sqlite): string[] {
  return db
    .prepare<[], { id: string }>('SELECT DISTINCT organization_id AS id FROM resource_states ORDER BY id')
    .all()
    .map(row => row.id);
}
