import type { Reader } from '../../store/contract/reader.js';
import type { Tables } from '../../store/contract/tables.js';
import { first, sql } from '../sql.js';

export type FollowUp = Awaited<ReturnType<typeof readFollowUp>>;

interface Work {
  readonly organizationId: string;
  /** The job that answers a delivery. */
  readonly jobId: number;
}

const READS = 20;

/** What a job read, in its order, and the walk over certificates that came next for the same organization. */
export async function readFollowUp(reader: Reader, { organizationId, jobId }: Work) {
  const syncs = sql<Tables['syncs']>`SELECT * FROM mirror.syncs WHERE organization_id = ${organizationId}`;
  const reads = await reader.all(sql`${syncs} AND job_id = ${jobId} ORDER BY id LIMIT ${READS}`);
  const last = reads.at(-1);
  if (last === undefined) return { reads, certificates: null };
  const next = sql`${syncs} AND resource = 'certificates' AND id > ${last.id} ORDER BY id LIMIT 1`;
  return { reads, certificates: await first(reader, next) };
}
