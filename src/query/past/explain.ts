import type { Reader } from '../../engines/contract/reader.js';
import type { Tables } from '../../engines/contract/tables.js';
import { stoodAt } from '../by-name.js';
import { count } from '../count.js';
import type { ReadAt } from './as-of.js';

type SyncRun = Tables['sync_runs'];

/** A read, and who or what had asked for it. */
export interface ReadBehind {
  readonly id: number;
  readonly trigger: string;
  readonly state: SyncRun['state'];
  readonly started_at: string;
  readonly answered_at: string | null;
  readonly finished_at: string | null;
  readonly job_id: number | null;
  readonly delivery_id: number | null;
  /** Null where the delivery is older than the retention, and where none asked. */
  readonly delivery: { readonly event: string | null; readonly received_at: string } | null;
}

/** Null where its record is gone. */
export async function readBehind({ db }: Reader, runId: number): Promise<ReadBehind | null> {
  const run = await db
    .selectFrom('sync_runs')
    .select(['id', 'trigger', 'state', 'started_at', 'answered_at', 'finished_at', 'job_id', 'delivery_id'])
    .where('id', '=', runId)
    .executeTakeFirst();
  if (run === undefined) return null;
  const delivery = await db
    .selectFrom('inbox.deliveries')
    .select(['event', 'received_at'])
    .where('id', '=', run.delivery_id ?? 0)
    .executeTakeFirst();
  return { ...run, delivery: delivery ?? null };
}

/** The newest read that had ended by the instant and was not complete, if no complete one began after it. */
export async function readBrokenBefore({ db }: Reader, { organizationId, resource, at }: ReadAt) {
  const newest = await db
    .selectFrom('sync_runs')
    .select(['state', 'started_at', 'finished_at', 'error'])
    .where('organization_id', '=', organizationId)
    .where('resource', '=', resource)
    .where('finished_at', '<=', at)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest === undefined || newest.state === 'complete' ? null : newest;
}

/** How many retirements of today's list carry a date up to the instant. */
export async function countDatedBy({ db }: Reader, organizationId: string, at: string): Promise<number> {
  const dated = db
    .selectFrom('retirements')
    .where('organization_id', '=', organizationId)
    .where('created_at', '<=', at);
  return await count(dated);
}

/** The certificate that stood there at the instant. */
export async function readCertificateAt(
  { db }: Reader,
  organizationId: string,
  retirementId: string,
  at: string,
) {
  const row = await db
    .selectFrom('certificates_history')
    .select(['file', 'sha256', 'size', 'fetched_at'])
    .where('organization_id', '=', organizationId)
    .where('retirement_id', '=', retirementId)
    .where('state', '=', 'stored')
    .where(stoodAt(at))
    .executeTakeFirst();
  return row ?? null;
}
