import type { InboxPort } from '../../../inbox/port.js';
import { formatInstant } from '../../../resources/sql-values.js';
import { createInboxStore } from '../../inbox/inbox.js';
import { type Sqlite, write } from '../open.js';
import { statement } from '../statement.js';
import { createEnqueue } from './enqueue.js';
import { createReceiverPort, inboxDatabaseOn } from './receiver.js';
import { createWake } from './wake.js';

/** What is dated in the future does not count. */
const WAS_ASKED = 'SELECT id FROM jobs WHERE dedupe_key = @dedupeKey AND created_at <= @now LIMIT 1';

export function createInboxPort(db: Sqlite, now: () => number): InboxPort {
  const database = inboxDatabaseOn(db, now);
  const enqueue = createEnqueue(db);
  const { watch, asked } = createWake(db);
  const wasAsked = statement<{ dedupeKey: string; now: string }, { id: number }>(db, WAS_ASKED);
  const own = {
    ...createReceiverPort(db, now, database),
    enqueue: async (jobs: Parameters<InboxPort['enqueue']>[0]) => {
      const at = now();
      return write(db, () => jobs.map(job => enqueue(job, at)));
    },
    enqueueOnce: async (job: Parameters<InboxPort['enqueueOnce']>[0]) => {
      const at = now();
      const known = { dedupeKey: job.dedupeKey, now: formatInstant(at) };
      return write(db, () => (wasAsked.get(known) === undefined ? enqueue(job, at) : null));
    },
    watch,
  };
  return createInboxStore(database, own, asked);
}
