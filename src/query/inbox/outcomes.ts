import { OUTAGE_CODES, PARTIAL_READ_PREFIX } from '../../inbox/job.js';
import { splitWords } from '../../resources/entry.js';
import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { queryBuilder } from '../../store/sql/builder.js';

/** The columns of a job that `addJobs` adds to a delivery. */
const JOB_COLUMNS = splitWords('job_state outcome merged_into organization_id claim started_at finished_at');
const NO_JOB: Row = Object.fromEntries(JOB_COLUMNS.map(name => [name, null]));

/**
 * Adds to each delivery the columns of the job that it requested. If that job was merged into another one, adds those of the
 * other job.
 */
export async function addJobs({ all }: Reader, deliveries: readonly Row[]): Promise<Row[]> {
  const ids = deliveries.flatMap(({ job_id: id }) => (typeof id === 'number' ? [id] : []));
  const jobs = await all(
    queryBuilder
      .selectFrom('inbox.jobs as job')
      .leftJoin('inbox.jobs as target', 'target.id', 'job.merged_into')
      .select(({ fn }) => [
        'job.id as job_id',
        fn.coalesce('target.state', 'job.state').as('job_state'),
        fn.coalesce('target.outcome', 'target.last_error', 'job.outcome', 'job.last_error').as('outcome'),
        'job.merged_into',
        fn.coalesce('target.organization_id', 'job.organization_id').as('organization_id'),
        fn.coalesce('target.claim', 'job.claim').as('claim'),
        fn.coalesce('target.started_at', 'job.started_at').as('started_at'),
        fn.coalesce('target.finished_at', 'job.finished_at').as('finished_at'),
      ])
      .where('job.id', 'in', ids),
  );
  const byId = new Map<unknown, Row>(jobs.map(job => [job.job_id, job]));
  return deliveries.map(delivery => ({ ...delivery, ...(byId.get(delivery['job_id']) ?? NO_JOB) }));
}

/** Adds the column `end` to jobs, or to deliveries with their jobs: a sentence about the result of the job, or about why the job waits. */
export async function addEndColumn(reader: Reader, rows: readonly Row[]): Promise<Row[]> {
  const syncs = await readSyncs(reader, rows);
  const retries = await readRetries(reader, rows.filter(isPartial));
  const known = await readKnownInstallations(reader, rows.filter(isUninstalled));
  return rows.map(row => {
    if (isUninstalled(row) && !known.has(String(row['installation_id'])))
      return { ...row, end: UNKNOWN_INSTALLATION };
    const ownSyncs = syncs.filter(sync => isSyncOf(row, sync));
    return { ...row, end: describeResult(row, ownSyncs, findRetryTime(row, retries)) };
  });
}

const UNKNOWN_INSTALLATION = 'the registry knows no such installation';

/** Whether the job of a row ended because the app is not installed. */
function isUninstalled({ outcome }: Row): boolean {
  return outcome === 'uninstalled';
}

/** Reads which of the installation ids in `rows` the mirror knows. */
async function readKnownInstallations({ all }: Reader, rows: readonly Row[]): Promise<ReadonlySet<string>> {
  const ids = [...new Set(rows.map(row => String(row['installation_id'])))];
  const known = await all(
    queryBuilder.selectFrom('mirror.installations').select('id').where('id', 'in', ids),
  );
  return new Set(known.map(({ id }) => id));
}

/**
 * Whether a sync belongs to the job of a row: both have the same organization and the same claim, which is the number of a run of the job.
 */
function isSyncOf({ organization_id: id, claim }: Row, sync: SyncResult): boolean {
  return id !== null && sync.organization_id === id && sync.claim === claim;
}

type SyncResult = Awaited<ReturnType<typeof readSyncs>>[number];

const CHANGE_COUNTS = ['rows_added', 'rows_changed', 'rows_removed'] as const;

/**
 * Reads the syncs that the jobs of these rows made, in the order of their start. A sync belongs to a job if both have the same claim, which
 * is the number of a run of the job.
 */
async function readSyncs({ all }: Reader, rows: readonly Row[]) {
  const claims = new Set(rows.flatMap(({ claim }) => (typeof claim === 'number' ? [claim] : [])));
  return await all(
    queryBuilder
      .selectFrom('mirror.syncs')
      .select(['organization_id', 'claim', 'resource', 'state', ...CHANGE_COUNTS])
      .where('claim', 'in', [...claims])
      .orderBy('id'),
  );
}

type RetryJob = Awaited<ReturnType<typeof readRetries>>[number];

/** Reads the retry jobs for lists that could not be read in the jobs of these rows. */
async function readRetries({ all }: Reader, rows: readonly Row[]) {
  return await all(
    queryBuilder
      .selectFrom('inbox.jobs')
      .select(['dedupe_key', 'run_at', 'started_at', 'finished_at'])
      .where('dedupe_key', 'in', [...new Set(rows.map(getRetryKey))])
      .orderBy('id'),
  );
}

/** Returns the dedupe key of the job that retries the unread lists of an installation. */
function getRetryKey({ installation_id: installationId }: Row): string {
  return `retry:${String(installationId)}`;
}

/**
 * Returns when the lists that a job could not read are retried, or when the retry started. Null if the job read all lists. Also null for
 * certificates, because each certificate has a retry time of its own.
 */
function findRetryTime(row: Row, retries: readonly RetryJob[]): string | null {
  if (!isPartial(row) || row['kind'] === 'certificates') return null;
  const retry = retries.find(
    ({ dedupe_key: key, finished_at: at }) =>
      key === getRetryKey(row) && (at === null || at > String(row['finished_at'])),
  );
  const { run_at: plannedAt = null, started_at: startedAt = null } = retry ?? {};
  return startedAt !== null && startedAt > String(plannedAt) ? startedAt : plannedAt;
}

/** Whether the job of a row could read only some of its lists. */
function isPartial({ outcome }: Row): boolean {
  return typeof outcome === 'string' && outcome.startsWith(PARTIAL_READ_PREFIX);
}

/**
 * Describes the result of a job, such as "read in 1.5 s: 1 added and 1 changed in warehouse" (rows in the list `warehouse`), or
 * why a delivery was ignored. For a job that has not ended, describes why it waits, or the error of its last attempt; null if
 * there is neither.
 */
function describeResult(row: Row, syncs: readonly SyncResult[], retriedAt: string | null): string | null {
  const { started_at: startedAt, finished_at: finishedAt, state, job_state: jobState = state, outcome } = row;
  const { verdict, ignored_reason: ignoredReason } = row;
  if (verdict === 'ignored') return `ignored: ${String(ignoredReason)}`;
  if (jobState !== 'done' || typeof finishedAt !== 'string' || typeof startedAt !== 'string') {
    if (state === 'waiting' || state === 'paused') return describeWait(row);
    const reason = outcome ?? row['last_error'] ?? null;
    return reason === null ? null : String(reason);
  }
  const changes = syncs.map(describeChanges).filter(text => text !== '');
  if (isPartial(row)) {
    const retry = retriedAt === null ? '' : `, tried again ${retriedAt.slice(11, 16)}`;
    return [`${String(outcome)}${retry}`, ...changes].join('; ');
  }
  const duration = `${((Date.parse(finishedAt) - Date.parse(startedAt)) / 1000).toFixed(1)} s`;
  // A list that was not read completely may have changed.
  const isComplete = syncs.length > 0 && syncs.every(sync => sync.state === 'complete');
  if (isComplete && changes.length === 0) return `read in ${duration}: nothing new`;
  const result = `${isComplete ? 'read' : String(outcome ?? 'done')} in ${duration}`;
  return changes.length === 0 ? result : `${result}: ${changes.join(', ')}`;
}

/** Describes why a waiting or paused job does not run yet, such as "waits until a reservation expires". */
function describeWait({ state, kind, trigger, last_error: error, error_or_pause_code: code }: Row): string {
  const reason = error ?? code ?? null;
  if (reason !== null) {
    const isOutage = OUTAGE_CODES.some(outageCode => outageCode === code);
    const wait = isOutage ? 'waits for an outage to end' : 'waits to retry after a failure';
    return `${state === 'paused' ? 'paused after a failure' : wait}: ${String(reason)}`;
  }
  if (trigger === 'schedule') return 'waits for its scheduled time';
  return (trigger === 'worker' && WORKER_WAITS[String(kind)]) || 'waits for its turn';
}

/** Why jobs that the worker itself requests are delayed, by kind. */
const WORKER_WAITS: Readonly<Record<string, string>> = {
  reservations: 'waits until a reservation expires',
  retry: 'waits to retry lists that could not be read',
  discover: 'waits to retry a call that failed',
};

/** Describes the changes of a sync, such as "1 added and 2 removed in warehouse". Returns an empty text without changes. */
function describeChanges({ resource, ...rows }: SyncResult): string {
  const counts = CHANGE_COUNTS.flatMap(name =>
    rows[name] > 0 ? [`${rows[name]} ${name.replace('rows_', '')}`] : [],
  );
  return counts.length === 0 ? '' : `${counts.join(' and ')} in ${resource.replaceAll('_', ' ')}`;
}
