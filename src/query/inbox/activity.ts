import type { Reader } from '../../store/contract/reader.js';
import { count } from '../count.js';
import { inSnapshot } from '../snapshot.js';
import { readBacklog } from './backlog.js';
import { readCauses } from './causes.js';
import { readJobSums, readNewestDelivery } from './deliveries-and-jobs.js';
import { sumRejected } from './rejected.js';
import { readLife } from './heartbeats.js';

export type Activity = Awaited<ReturnType<typeof readActivity>>;

const DAY_MS = 86_400_000;

/** What comes in and what is done about it. */
export async function readActivity(reader: Reader, now: number) {
  return await inSnapshot(reader, async snapshot => {
    const { unread, delayed } = await readBacklog(snapshot, now);
    return {
      worker: await readLife(snapshot, 'work', now),
      receiver: await readLife(snapshot, 'receive', now),
      jobs: await readJobSums(snapshot, new Date(now).toISOString()),
      /** Since when the oldest job waits that is due; null where none is. */
      oldestDueAt: await readOldestDue(snapshot, now),
      /** Since when the oldest delivery waits that no read has answered; null where none does. */
      oldestUnreadAt: unread?.since ?? null,
      /** What waits for longer than it may. */
      delayed,
      /** What was turned away since yesterday. */
      rejectedWebhooks: await sumRejected(snapshot, new Date(now - DAY_MS).toISOString()),
      newestDeliveryAt: await readNewestDelivery(snapshot),
      ignored: await count(snapshot.db.selectFrom('inbox.deliveries').where('verdict', '=', 'ignored')),
      /** Why the registry is not asked or does not tell. */
      causes: await readCauses(snapshot, now),
    };
  });
}

async function readOldestDue({ db }: Reader, now: number): Promise<string | null> {
  const due = db
    .selectFrom('inbox.jobs')
    .select(eb => eb.fn.min<string | null>('run_at').as('at'))
    .where('state', '=', 'waiting')
    .where('run_at', '<=', new Date(now).toISOString());
  return (await due.executeTakeFirst())?.at ?? null;
}
