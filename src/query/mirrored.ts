import type { Sqlite } from '../engines/sqlite/open.js';

/** How much of what is to be mirrored is there. */
export interface Mirrored {
  readonly organizations: number;
  readonly credits: number;
  readonly retirements: number;
  readonly certificates: number;
  /** Resources and certificates that nobody has read yet, and can. */
  readonly unread: number;
}

export function readMirrored(db: Sqlite): Mirrored | undefined {
  return db
    .prepare<[], Mirrored>(
      `SELECT
        (SELECT count(DISTINCT organization_id) FROM resource_states) AS organizations,
        (SELECT count(*) FROM warehouse_credits) + (SELECT count(*) FROM inventory_credits) AS credits,
        (SELECT count(*) FROM retirements) AS retirements,
        (SELECT count(*) FROM certificates WHERE state = 'stored') AS certificates,
        (SELECT count(*) FROM freshness WHERE complete_at IS NULL AND state IN ('never_read', 'partial', 'failing'))
          + (SELECT count(*) FROM certificates_missing WHERE state = 'pending') AS unread`,
    )
    .get();
}
