import type { Sqlite } from '../engines/sqlite/open.js';
import type { Value } from '../engines/contract/tables.js';

export interface Demand {
  /** Null for all of them. */
  readonly organizationId: string | null;
  /** Whatever was read completely within so many seconds may be sold; null where only what is current may. */
  readonly maxAgeSeconds: number | null;
}

/** A warehouse from which nothing is to be sold now, and why. */
export interface LeftOut {
  readonly organizationId: string;
  readonly organizationName: string | null;
  readonly state: string;
  /** Start of its last complete read; null before the first. */
  readonly completeAt: string | null;
  readonly ageSeconds: number | null;
  readonly rows: number;
  /** Tonnes, to look at. */
  readonly amount: number | null;
  readonly error: string | null;
}

export interface Available {
  /** How many warehouses are known at all. */
  readonly warehouses: number;
  readonly rows: readonly Record<string, Value>[];
  readonly leftOut: readonly LeftOut[];
}

interface Warehouse extends LeftOut {
  readonly mayBeSold: number;
}

/** Each warehouse that is known, and those that should be: of an installation that is active. */
const WAREHOUSES = `
  WITH known AS (
    SELECT organization_id, state, complete_at, age_seconds, rows, error FROM freshness WHERE resource = 'warehouse'
    UNION ALL
    SELECT DISTINCT organization_id, 'never_read', NULL, NULL, 0, NULL FROM installations
    WHERE state = 'active' AND organization_id IS NOT NULL
      AND organization_id NOT IN (SELECT organization_id FROM resource_states WHERE resource = 'warehouse')
  )
  SELECT k.organization_id AS organizationId, o.full_name AS organizationName, k.state,
    k.complete_at AS completeAt, k.age_seconds AS ageSeconds, k.rows, k.error,
    (SELECT sum(s.amount) FROM warehouse_sums AS s WHERE s.organization_id = k.organization_id) AS amount,
    CASE
      WHEN @maxAgeSeconds IS NULL THEN k.state = 'current'
      ELSE k.state IN ('current', 'late', 'behind', 'failing', 'partial')
        AND coalesce(k.age_seconds, -1) BETWEEN 0 AND @maxAgeSeconds
    END AS mayBeSold
  FROM known AS k LEFT JOIN organizations AS o ON o.id = k.organization_id
  WHERE @organizationId IS NULL OR k.organization_id = @organizationId
  ORDER BY organizationName, k.organization_id`;

const ROWS = `
  SELECT * FROM warehouse_sums WHERE organization_id IN (SELECT value FROM json_each(?))
  ORDER BY organization_name, organization_id, project_name, vintage, type`;

/** Of these nothing is expected: they are told of only where something is known. */
const CLOSED = ['suspended', 'uninstalled', 'forbidden', 'not_offered'];

/** What can be sold now, and what is known and is not to be sold. Each warehouse is in one of both or empty. */
export function readAvailable(db: Sqlite, demand: Demand): Available {
  return db.transaction(() => {
    const warehouses = db.prepare<[object], Warehouse>(WAREHOUSES).all(demand);
    const sold = warehouses.filter(({ mayBeSold }) => mayBeSold === 1);
    const ids = JSON.stringify(sold.map(({ organizationId }) => organizationId));
    return {
      warehouses: warehouses.length,
      rows: db.prepare<[string], Record<string, Value>>(ROWS).safeIntegers().all(ids),
      leftOut: warehouses
        .filter(({ mayBeSold, state, rows }) => mayBeSold === 0 && (rows > 0 || !CLOSED.includes(state)))
        .map(({ mayBeSold: _, ...leftOut }) => leftOut),
    };
  })();
}
