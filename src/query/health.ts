import type { Sqlite } from '../engines/sqlite/open.js';
import { NEWEST_DELIVERY } from './inbox.js';
import { type Life, readLife } from './signs.js';

export interface Health {
  readonly origin: { readonly baseUrl: string; readonly appId: string } | null;
  readonly newestDeliveryAt: string | null;
  readonly worker: Life;
  readonly setAside: number;
  readonly buried: number;
  readonly parked: number;
  readonly activeInstallations: number;
  /** Resources that are behind, late, partial, doubtful or failing, with their organization. */
  readonly troubled: readonly { readonly name: string; readonly resource: string; readonly state: string }[];
  readonly drift: number;
}

const DAY_MS = 86_400_000;

export function readHealth(db: Sqlite, now: number): Health {
  const origin = db
    .prepare<[], { baseUrl: string; appId: string }>(
      'SELECT base_url AS baseUrl, app_id AS appId FROM origin',
    )
    .get();
  const number = (sql: string, ...values: string[]): number =>
    db
      .prepare<string[], number>(sql)
      .pluck()
      .get(...values) ?? 0;
  const instant = (sql: string): string | null => db.prepare<[], string | null>(sql).pluck().get() ?? null;
  const yesterday = new Date(now - DAY_MS).toISOString();
  return {
    origin: origin ?? null,
    newestDeliveryAt: instant(NEWEST_DELIVERY),
    worker: readLife(db, 'work', now),
    setAside: number(
      "SELECT count(*) FROM inbox.deliveries WHERE received_at >= ? AND verdict = 'set_aside'",
      yesterday,
    ),
    buried: number("SELECT count(*) FROM inbox.jobs WHERE state = 'buried'"),
    parked: number("SELECT count(*) FROM inbox.jobs WHERE state = 'parked'"),
    activeInstallations: number("SELECT count(*) FROM installations WHERE state = 'active'"),
    troubled: db
      .prepare<[], { name: string; resource: string; state: string }>(
        `SELECT coalesce(o.full_name, f.organization_id) AS name, f.resource, f.state
        FROM freshness AS f LEFT JOIN organizations AS o ON o.id = f.organization_id
        WHERE f.state IN ('behind', 'late', 'partial', 'doubtful', 'failing') ORDER BY name, f.resource`,
      )
      .all(),
    drift: number(
      'SELECT coalesce(sum(drift), 0) FROM sync_runs WHERE drift > 0 AND started_at >= ?',
      yesterday,
    ),
  };
}
