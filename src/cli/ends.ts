import type { Reader } from '../engines/contract/reader.js';
import { type Ended, readEnds } from '../query/reads/runs.js';
import type { Row } from './output/output.js';

/** Rows of jobs, or of deliveries with their jobs, and beside each the end of it in words: `end`. */
export async function withEnds(reader: Reader, rows: readonly Row[]): Promise<Row[]> {
  const works = rows.flatMap(({ work_for: organizationId, work_claim: claim }) =>
    typeof organizationId === 'string' && claim !== null ? [{ organizationId, claim: Number(claim) }] : [],
  );
  const ends = works.length === 0 ? [] : await readEnds(reader, works);
  return rows.map(({ work_for: organizationId, work_claim: claim, work_started_at: from, ...row }) => {
    const own = ends.filter(end => end.organizationId === organizationId && end.claim === Number(claim));
    return { ...row, end: describeEnd(row, from, own) };
  });
}

function describeEnd(row: Row, from: Row[string], ends: readonly Ended[]): string | null {
  const { finished_at: to, final_state: final, state, outcome } = row;
  if ((final ?? state) !== 'done' || typeof to !== 'string' || typeof from !== 'string') {
    return outcome === null || outcome === undefined ? null : String(outcome);
  }
  const seconds = ((Date.parse(to) - Date.parse(from)) / 1000).toFixed(1);
  const changes = ends.map(changesOf).filter(text => text !== '');
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
