import { sql } from 'kysely';
import type { InboxPort } from '../../../inbox/port.js';
import { formatInstant } from '../../../resources/sql-values.js';
import { createInboxStore } from '../../inbox/inbox-store.js';
import { type Params, prepared } from '../../sql/prepared.js';
import { type Sqlite, runInTransaction } from '../open-database.js';
import { prepareOn } from '../database.js';
import { createEnqueue } from './enqueue.js';
import { createJobQueue } from './job-steps.js';
import { createReceiverPort, createInboxDatabase } from './receiver-port.js';
import { createWorkNotifier } from './work-notifier.js';

/** Finds a job with a dedupe key. Jobs dated in the future do not count, because the clock was set back since. */
const FIND_REQUESTED = prepared(
  ({ db }, { dedupeKey, now }: Params<{ readonly dedupeKey: string; readonly now: string }>) =>
    db
      .selectFrom('inbox.jobs')
      .select('id')
      .where('dedupe_key', '=', dedupeKey)
      .where('created_at', '<=', now)
      .limit(sql.lit(1)),
);

/** Creates the store of deliveries and jobs on a migrated inbox.db. */
export function createInboxPort(db: Sqlite, now: () => number): InboxPort {
  const database = createInboxDatabase(db, now);
  const enqueue = createEnqueue(db);
  const { watch, notify } = createWorkNotifier(db);
  const findRequested = prepareOn(db, FIND_REQUESTED);
  const own = {
    ...createReceiverPort(db, now, database),
    enqueue: async (jobs: Parameters<InboxPort['enqueue']>[0]) => {
      const at = now();
      return runInTransaction(db, () => jobs.map(job => enqueue(job, at)));
    },
    enqueueOnce: async (job: Parameters<InboxPort['enqueueOnce']>[0]) => {
      const at = now();
      const known = { dedupeKey: job.dedupeKey, now: formatInstant(at) };
      return runInTransaction(db, () => (findRequested.get(known) === undefined ? enqueue(job, at) : null));
    },
    watch,
  };
  return createInboxStore(database, createJobQueue(database), own, notify);
}
