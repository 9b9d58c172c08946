import type { Reader } from '../../engines/contract/reader.js';
import type { Row } from '../../engines/contract/tables.js';
import { type Ended, readEnds } from '../reads/runs.js';
import { IN_PART } from './deliveries-and-jobs.js';

/** Rows of jobs, or of deliveries with their jobs, and beside each the end of it in words: `end`. */
export async function withEnds(reader: Reader, rows: readonly Row[]): Promise<Row[]> {
  const works = rows.flatMap(({ work_for: organizationId, work_claim: claim }) =>
    typeof organizationId === 'string' && claim !== null ? [{ organizationId, claim: Number(claim) }] : [],
  );
  const ends = works.length === 0 ? [] : await readEnds(reader, works);
  const retries = await readRetries(reader, rows.filter(isInPart));
  return rows.map(({ work_for: organizationId, work_claim: claim, work_started_at: from, ...row }) => {
    const own = ends.filter(end => end.organizationId === organizationId && end.claim === Number(claim));
    return { ...row, end: describeEnd(row, from, own, againAt(row, retries)) };
  });
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

function describeEnd(
  row: Row,
  from: Row[string] | undefined,
  ends: readonly Ended[],
  again: string | null,
): string | null {
  const { finished_at: to, final_state: final, state, outcome } = row;
  if ((final ?? state) !== 'done' || typeof to !== 'string' || typeof from !== 'string') {
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

function changesOf({ resource, added, changed, removed }: Ended): string {
  const counts = [
    ...(added > 0 ? [`+${added}`] : []),
    ...(changed > 0 ? [`~${changed}`] : []),
    ...(removed > 0 ? [`-${removed}`] : []),
  ];
  return counts.length === 0 ? '' : `${counts.join(' ')} ${resource.replaceAll('_', ' ')}`;
}
