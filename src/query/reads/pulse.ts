import type { Reader } from '../../store/contract/reader.js';
import { readLife } from '../inbox/heartbeats.js';

/** Says something else once a row, a read, a delivery or a job has changed, or nobody works any more; not with each heartbeat. */
export async function readPulse(reader: Reader, now: number): Promise<string> {
  const { db } = reader;
  const syncs = db.selectFrom('syncs');
  const jobs = db.selectFrom('inbox.jobs');
  const ended = async (state: 'done' | 'failed') =>
    await jobs
      .where('state', '=', state)
      .select(eb => eb.fn.max('finished_at').as('newest'))
      .executeTakeFirst();
  const answers = [
    await db.selectFrom('version_counter').select('last as newest').executeTakeFirst(),
    await syncs.select(eb => eb.fn.max<number | null>('id').as('newest')).executeTakeFirst(),
    await syncs.select(eb => eb.fn.max('finished_at').as('newest')).executeTakeFirst(),
    await db
      .selectFrom('inbox.deliveries')
      .select(eb => eb.fn.max<number | null>('id').as('newest'))
      .executeTakeFirst(),
    await jobs.select(eb => eb.fn.max<number | null>('id').as('newest')).executeTakeFirst(),
    await ended('done'),
    await ended('failed'),
    await jobs
      .where('state', '=', 'running')
      .select(eb => eb.fn.max('started_at').as('newest'))
      .executeTakeFirst(),
  ];
  const lives = [await readLife(reader, 'work', now), await readLife(reader, 'receive', now)];
  return [...answers.map(answer => answer?.newest ?? ''), ...lives.map(({ state }) => state)].join(' ');
}
