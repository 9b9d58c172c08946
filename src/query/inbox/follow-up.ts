import type { Reader } from '../../store/contract/reader.js';

export type FollowUp = Awaited<ReturnType<typeof readFollowUp>>;

interface Work {
  readonly organizationId: string;
  /** The job that answers a delivery. */
  readonly jobId: number;
}

const READS = 20;

/** What a job read, in its order, and the walk over certificates that came next for the same organization. */
export async function readFollowUp({ db }: Reader, { organizationId, jobId }: Work) {
  const syncs = db
    .selectFrom('syncs')
    .where('organization_id', '=', organizationId)
    .selectAll()
    .orderBy('id');
  const reads = await syncs.where('job_id', '=', jobId).limit(READS).execute();
  const last = reads.at(-1);
  if (last === undefined) return { reads, certificates: null };
  const next = syncs.where('resource', '=', 'certificates').where('id', '>', last.id).limit(1);
  return { reads, certificates: (await next.executeTakeFirst()) ?? null };
}
