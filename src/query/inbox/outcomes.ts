import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { PARTIAL_READ } from '../../inbox/job.js';
import { splitWords } from '../../resources/entry.js';
import { columns, sql } from '../sql.js';

/** Beside a delivery the job that was sure to start after it, or that took over from that one. */
const OF_JOB = splitWords('job_state outcome merged_into organization_id claim started_at finished_at');

export async function withJobs({ all }: Reader, rows: readonly Row[]): Promise<Row[]> {
  const ids = rows.flatMap(({ job_id: id }) => (typeof id === 'number' ? [id] : []));
  const jobs = await all(sql<Row>`SELECT j.id AS job_id, coalesce(m.state, j.state) AS job_state,
      coalesce(m.outcome, m.last_error, j.outcome, j.last_error) AS outcome, j.merged_into,
      coalesce(m.organization_id, j.organization_id) AS organization_id, coalesce(m.claim, j.claim) AS claim,
      coalesce(m.started_at, j.started_at) AS started_at, coalesce(m.finished_at, j.finished_at) AS finished_at
    FROM inbox.jobs AS j LEFT JOIN inbox.jobs AS m ON m.id = j.merged_into WHERE j.id IN ${ids}`);
  const known = new Map(jobs.map(job => [job['job_id'], job]));
  const unknown = Object.fromEntries(OF_JOB.map(name => [name, null]));
  return rows.map(row => ({ ...row, ...(known.get(row['job_id'] ?? null) ?? unknown) }));
}

/** Rows of jobs, or of deliveries with their jobs, and beside each the end of it in words: `end`. */
export async function withEnds(reader: Reader, rows: readonly Row[]): Promise<Row[]> {
  const ends = await readEnds(reader, rows);
  const retries = await readRetries(reader, rows.filter(isInPart));
  const known = await readKnown(reader, rows.filter(isGone));
  return rows.map(row => {
    const own = ends.filter(end => isOf(row, end));
    if (isGone(row) && !known.has(String(row['installation_id']))) return { ...row, end: UNKNOWN };
    return { ...row, end: describeEnd(row, own, againAt(row, retries)) };
  });
}

const UNKNOWN = 'the registry knows no such installation';

function isGone({ outcome }: Row): boolean {
  return outcome === 'uninstalled';
}

/** The installations of these rows that were there once. */
async function readKnown({ all }: Reader, rows: readonly Row[]): Promise<ReadonlySet<string>> {
  const ids = [...new Set(rows.map(row => String(row['installation_id'])))];
  const known = await all(
    sql`SELECT ${columns('installations', ['id'])} FROM mirror.installations WHERE id IN ${ids}`,
  );
  return new Set(known.map(({ id }) => id));
}

function isOf({ organization_id: id, claim }: Row, end: Ended): boolean {
  return id !== null && end.organization_id === id && end.claim === claim;
}

type Ended = Awaited<ReturnType<typeof readEnds>>[number];

const COUNTS = ['rows_added', 'rows_changed', 'rows_removed'] as const;

/** What the reads of these claims changed, in their order. */
async function readEnds({ all }: Reader, rows: readonly Row[]) {
  const claims = new Set(rows.flatMap(({ claim }) => (typeof claim === 'number' ? [claim] : [])));
  const wanted = columns('syncs', ['organization_id', 'claim', 'resource', 'state', ...COUNTS]);
  return await all(sql`SELECT ${wanted} FROM mirror.syncs WHERE claim IN ${[...claims]} ORDER BY id`);
}

type Retry = Awaited<ReturnType<typeof readRetries>>[number];

/** What was asked for once more of the installations of these rows. */
async function readRetries({ all }: Reader, rows: readonly Row[]) {
  const wanted = columns('inbox.jobs', ['dedupe_key', 'run_at', 'started_at', 'finished_at']);
  const keys = [...new Set(rows.map(retryKeyOf))];
  return await all(sql`SELECT ${wanted} FROM inbox.jobs WHERE dedupe_key IN ${keys} ORDER BY id`);
}

function retryKeyOf({ installation_id: installationId }: Row): string {
  return `retry:${String(installationId)}`;
}

/** The first try that ended later, or that waits. Certificates come when they are due. */
function againAt(row: Row, retries: readonly Retry[]): string | null {
  if (!isInPart(row) || row['kind'] === 'certificates') return null;
  const again = retries.find(
    ({ dedupe_key: key, finished_at: at }) =>
      key === retryKeyOf(row) && (at === null || at > String(row['finished_at'])),
  );
  const { run_at: planned = null, started_at: began = null } = again ?? {};
  return began !== null && began > String(planned) ? began : planned;
}

function isInPart({ outcome }: Row): boolean {
  return typeof outcome === 'string' && outcome.startsWith(PARTIAL_READ);
}

function describeEnd(row: Row, ends: readonly Ended[], again: string | null): string | null {
  const { started_at: from, finished_at: to, state, job_state: ended = state, outcome } = row;
  if (ended !== 'done' || typeof to !== 'string' || typeof from !== 'string') {
    const why = outcome ?? row['last_error'] ?? null;
    return why === null ? null : String(why);
  }
  const seconds = ((Date.parse(to) - Date.parse(from)) / 1000).toFixed(1);
  const changes = ends.map(changesOf).filter(text => text !== '');
  if (isInPart(row)) {
    const when = again === null ? '' : `, tried again ${again.slice(11, 16)}`;
    return [`${String(outcome)}${when}`, ...changes].join('; ');
  }
  /** Where a read was refused or cut off, nobody knows that nothing is new. */
  const isWhole = ends.length > 0 && ends.every(end => end.state === 'complete');
  if (isWhole && changes.length === 0) return `read in ${seconds} s: nothing new`;
  const what = `${isWhole ? 'read' : String(outcome ?? 'done')} in ${seconds} s`;
  return changes.length === 0 ? what : `${what}: ${changes.join(', ')}`;
}

function changesOf({ resource, ...rows }: Ended): string {
  const counts = COUNTS.flatMap(name => (rows[name] > 0 ? [`${rows[name]} ${name.slice(5)}`] : []));
  return counts.length === 0 ? '' : `${counts.join(' and ')} in ${resource.replaceAll('_', ' ')}`;
}
