import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';

/** How the outcome of a job begins that could not read all that it was to read. */
export const IN_PART = 'read in part';

/** Beside a delivery the job that was sure to start after it, or that took over from that one. */
const OF_JOB = {
  job_state: null,
  outcome: null,
  merged_into: null,
  organization_id: null,
  claim: null,
  started_at: null,
  finished_at: null,
};

export async function withJobs({ db, say }: Reader, rows: readonly Row[]): Promise<Row[]> {
  const ids = rows.flatMap(({ job_id: id }) => (typeof id === 'number' ? [id] : []));
  const jobs = await db
    .selectFrom('inbox.jobs as j')
    .leftJoin('inbox.jobs as m', 'm.id', 'j.merged_into')
    .where('j.id', 'in', say.each(ids))
    .select(eb => [
      'j.id',
      eb.fn.coalesce('m.state', 'j.state').as('job_state'),
      eb.fn.coalesce('m.outcome', 'm.last_error', 'j.outcome', 'j.last_error').as('outcome'),
      'j.merged_into',
      eb.fn.coalesce('m.organization_id', 'j.organization_id').as('organization_id'),
      eb.fn.coalesce('m.claim', 'j.claim').as('claim'),
      eb.fn.coalesce('m.started_at', 'j.started_at').as('started_at'),
      eb.fn.coalesce('m.finished_at', 'j.finished_at').as('finished_at'),
    ])
    .execute();
  const known = new Map<Row[string] | undefined, Row>(jobs.map(({ id, ...job }) => [id, job]));
  return rows.map(row => ({ ...row, ...(known.get(row['job_id']) ?? OF_JOB) }));
}

/** Rows of jobs, or of deliveries with their jobs, and beside each the end of it in words: `end`. */
export async function withEnds(reader: Reader, rows: readonly Row[]): Promise<Row[]> {
  const ends = await readEnds(reader, rows);
  const retries = await readRetries(reader, rows.filter(isInPart));
  return rows.map(row => {
    const own = ends.filter(end => isOf(row, end));
    return { ...row, end: describeEnd(row, own, againAt(row, retries)) };
  });
}

function isOf({ organization_id: id, claim }: Row, end: Ended): boolean {
  return id !== null && end.organization_id === id && end.claim === claim;
}

type Ended = Awaited<ReturnType<typeof readEnds>>[number];

/** What the reads of these claims changed, in their order. */
async function readEnds({ db, say }: Reader, rows: readonly Row[]) {
  const claims = new Set(rows.flatMap(({ claim }) => (typeof claim === 'number' ? [claim] : [])));
  return await db
    .selectFrom('syncs')
    .select(['organization_id', 'claim', 'resource', 'rows_added', 'rows_changed', 'rows_removed'])
    .where('claim', 'in', say.each([...claims]))
    .orderBy('id')
    .execute();
}

type Retry = Awaited<ReturnType<typeof readRetries>>[number];

/** What was asked for once more of the installations of these rows. */
async function readRetries({ db }: Reader, rows: readonly Row[]) {
  if (rows.length === 0) return [];
  const keys = new Set(rows.map(retryKeyOf));
  return await db
    .selectFrom('inbox.jobs')
    .where('dedupe_key', 'in', [...keys])
    .select(['dedupe_key', 'run_at', 'started_at', 'finished_at'])
    .orderBy('id')
    .execute();
}

function retryKeyOf({ installation_id: installationId }: Row): string {
  return `retry:${String(installationId)}`;
}

/** The first try that ended later, or that waits. Certificates come when they are due. */
function againAt(row: Row, retries: readonly Retry[]): string | null {
  if (!isInPart(row) || row['kind'] === 'certificates') return null;
  const isLater = ({ dedupe_key: key, finished_at: at }: Retry) =>
    key === retryKeyOf(row) && (at === null || at > String(row['finished_at']));
  const { run_at: planned = null, started_at: began = null } = retries.find(isLater) ?? {};
  return began !== null && began > String(planned) ? began : planned;
}

function isInPart({ outcome }: Row): boolean {
  return typeof outcome === 'string' && outcome.startsWith(IN_PART);
}

function describeEnd(row: Row, ends: readonly Ended[], again: string | null): string | null {
  const { started_at: from, finished_at: to, state, job_state: ended = state, outcome } = row;
  if (ended !== 'done' || typeof to !== 'string' || typeof from !== 'string') {
    return outcome === null || outcome === undefined ? null : String(outcome);
  }
  const seconds = ((Date.parse(to) - Date.parse(from)) / 1000).toFixed(1);
  const changes = ends.map(changesOf).filter(text => text !== '');
  if (isInPart(row)) {
    const when = again === null ? '' : `, tried again ${again.slice(11, 16)}`;
    return [`${String(outcome)}${when}`, ...changes].join('; ');
  }
  if (ends.length === 0) return `${String(outcome ?? 'done')} in ${seconds} s`;
  return `read in ${seconds} s: ${changes.length === 0 ? 'nothing new' : changes.join(', ')}`;
}

function changesOf({ resource, ...rows }: Ended): string {
  const counts = [
    ...(rows.rows_added > 0 ? [`+${rows.rows_added}`] : []),
    ...(rows.rows_changed > 0 ? [`~${rows.rows_changed}`] : []),
    ...(rows.rows_removed > 0 ? [`-${rows.rows_removed}`] : []),
  ];
  return counts.length === 0 ? '' : `${counts.join(' ')} ${resource.replaceAll('_', ' ')}`;
}
