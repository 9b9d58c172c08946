import type { Sqlite } from '../database/open.js';
import type { Value } from './statement-guard.js';

const WHERE = 'WHERE @organizationId IS NULL OR organization_id = @organizationId';

/** What can be sold now: active organizations with a current, permitted read of their warehouse. */
export function readAvailable(db: Sqlite, organizationId: string | null): Record<string, Value>[] {
  return db
    .prepare<[object], Record<string, Value>>(
      `SELECT * FROM available_credits ${WHERE} ORDER BY organization_name, project_name, vintage, type`,
    )
    .all({ organizationId });
}

export interface LeftOut {
  readonly name: string;
  readonly freshness: string;
  readonly rows: number;
}

/** The warehouses that are not current, and so left out. */
export function readLastKnown(db: Sqlite, organizationId: string | null): LeftOut[] {
  return db
    .prepare<[object], LeftOut>(
      `SELECT coalesce(organization_name, organization_id) AS name, coalesce(freshness, 'never read') AS freshness,
        sum(rows) AS rows
      FROM last_known_credits ${WHERE} GROUP BY organization_id ORDER BY name`,
    )
    .all({ organizationId });
}
