import type { Reader } from '../../engines/contract/reader.js';
import { count } from '../count.js';
import { inSnapshot } from '../snapshot.js';
import { type Delayed, readBacklog } from './backlog.js';
import { type Cause, readCauses } from './causes.js';
import { type JobSums, readJobSums, readNewestDelivery } from './deliveries-and-jobs.js';
import { type RefusalSum, sumRefusals } from './refusals.js';
import { type Life, readLife } from './signs.js';

/** What comes in and what is done about it. */
export interface Activity {
  readonly worker: Life;
  readonly receiver: Life;
  readonly jobs: JobSums;
  /** Since when the oldest job waits that is due; null where none is. */
  readonly oldestDueAt: string | null;
  /** Since when the oldest delivery waits that no read has answered; null where none does. */
  readonly oldestDueDeliveryAt: string | null;
  /** What waits for longer than it may. */
  readonly delayed: readonly Delayed[];
  /** What was turned away since yesterday. */
  readonly refused: readonly RefusalSum[];
  readonly newestDeliveryAt: string | null;
  readonly setAside: number;
  /** Why the registry is not asked or does not tell. */
  readonly causes: readonly Cause[];
}

const DAY_MS = 86_400_000;

export async function readActivity(reader: Reader, now: number): Promise<Activity> {
  return await inSnapshot(reader, async snapshot => {
    const { unread, delayed } = await readBacklog(snapshot, now);
    return {
      worker: await readLife(snapshot, 'work', now),
      receiver: await readLife(snapshot, 'receive', now),
      jobs: await readJobSums(snapshot, new Date(now).toISOString()),
      oldestDueAt: await readOldestDue(snapshot, now),
      oldestDueDeliveryAt: unread?.since ?? null,
      delayed,
      refused: await sumRefusals(snapshot, new Date(now - DAY_MS).toISOString()),
      newestDeliveryAt: await readNewestDelivery(snapshot),
      setAside: await count(snapshot.db.selectFrom('inbox.deliveries').where('verdict', '=', 'set_aside')),
      causes: await readCauses(snapshot, now),
    };
  });
}

async function readOldestDue({ db }: Reader, now: number): Promise<string | null> {
  const due = db
    .selectFrom('inbox.jobs')
    .select(eb => eb.fn.min<string | null>('run_at').as('at'))
    .where('state', '=', 'ready')
    .where('run_at', '<=', new Date(now).toISOString());
  return (await due.executeTakeFirst())?.at ?? null;
}
