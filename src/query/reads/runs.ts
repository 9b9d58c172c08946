import type { Reader } from '../../engines/contract/reader.js';
import type { Row } from '../../engines/contract/tables.js';

export const RUN_COLUMNS = [
  'started_at',
  'organization_name',
  'resource',
  'state',
  'trigger',
  'seconds',
  'rows_added',
  'rows_changed',
  'rows_removed',
  'drift',
  'id',
  'requests',
  'error',
  'organization_id',
];

export interface RunFilter {
  readonly organizationId: string | null;
  readonly resource: string | null;
  /** Only those that found what no delivery had announced. */
  readonly isDrift: boolean;
  /** Null for all of them. */
  readonly limit: number | null;
}

/** Reads of the registry, newest first. */
export async function readRuns({ db }: Reader, filter: RunFilter): Promise<Row[]> {
  let asked = db
    .selectFrom('sync_runs as r')
    .leftJoin('organizations as o', 'o.id', 'r.organization_id')
    .select([
      'r.id',
      'r.started_at',
      'r.finished_at',
      'r.organization_id',
      'o.full_name as organization_name',
      'r.resource',
      'r.state',
      'r.trigger',
      'r.requests',
      'r.bytes',
      'r.rows_added',
      'r.rows_changed',
      'r.rows_removed',
      'r.rows_unchanged',
      'r.drift',
      'r.error_code',
      'r.error',
    ])
    .orderBy('r.id', 'desc');
  if (filter.organizationId !== null) asked = asked.where('r.organization_id', '=', filter.organizationId);
  if (filter.resource !== null) asked = asked.where('r.resource', '=', filter.resource);
  if (filter.isDrift) asked = asked.where('r.drift', '>', 0);
  const rows = await (filter.limit === null ? asked : asked.limit(filter.limit)).execute();
  return rows.map(row => ({ ...row, seconds: secondsBetween(row.started_at, row.finished_at) }));
}

/** One job's work for one organization. */
export interface Work {
  readonly organizationId: string;
  readonly claim: number;
}

export interface Ended extends Work {
  readonly resource: string;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/** What the reads of jobs changed, in their order. */
export async function readEnds({ db, say }: Reader, works: readonly Work[]): Promise<Ended[]> {
  const claims = [...new Set(works.map(({ claim }) => claim))];
  const runs = await db
    .selectFrom('sync_runs')
    .select(['organization_id', 'claim', 'resource', 'rows_added', 'rows_changed', 'rows_removed'])
    .where('claim', 'in', say.each(claims))
    .orderBy('id')
    .execute();
  return runs.flatMap(run =>
    works.some(({ organizationId, claim }) => organizationId === run.organization_id && claim === run.claim)
      ? {
          organizationId: String(run.organization_id),
          claim: run.claim,
          resource: run.resource,
          added: run.rows_added,
          changed: run.rows_changed,
          removed: run.rows_removed,
        }
      : [],
  );
}

function secondsBetween(from: string, to: string | null): number | null {
  return to === null ? null : (Date.parse(to) - Date.parse(from)) / 1000;
}
