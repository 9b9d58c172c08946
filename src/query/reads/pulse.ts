import type { Reader } from '../../store/contract/reader.js';
import { readLife } from '../inbox/heartbeats.js';
import { largest } from '../sql.js';

/** Says something else once a row, a read, a delivery or a job has changed, or nobody works any more; not with each heartbeat. */
export async function readPulse(reader: Reader, now: number): Promise<string> {
  const { db } = reader;
  const [syncs, jobs] = [db.selectFrom('syncs'), db.selectFrom('inbox.jobs')];
  const newest = [
    await largest(db.selectFrom('version_counter'), 'last'),
    await largest(syncs, 'id'),
    await largest(syncs, 'finished_at'),
    await largest(db.selectFrom('inbox.deliveries'), 'id'),
    await largest(jobs, 'id'),
    await largest(jobs.where('state', '=', 'done'), 'finished_at'),
    await largest(jobs.where('state', '=', 'failed'), 'finished_at'),
    await largest(jobs.where('state', '=', 'running'), 'started_at'),
  ];
  const lives = [await readLife(reader, 'work', now), await readLife(reader, 'receive', now)];
  return [...newest.map(each => each ?? ''), ...lives.map(({ state }) => state)].join(' ');
}
