import type { InboxPort } from '../../../inbox/port.js';
import { WORK_CHANNEL } from '../../dialect.js';
import { createInboxStore } from '../../inbox/inbox-store.js';
import type { Postgres } from '../open-postgres.js';
import type { InboxClock } from '../pool-settings.js';
import { createEnqueue } from './enqueue.js';
import { createRetryingBatch, createInboxDatabase } from './inbox-functions.js';
import { createJobQueue } from './job-steps.js';
import { createReceiverPort } from './receiver-port.js';
import { createWorkNotifier } from './work-notifier.js';

/** Creates the store of deliveries and jobs on a migrated PostgreSQL database. */
export function createInboxPort(postgres: Postgres, clock: InboxClock): InboxPort {
  const database = createInboxDatabase(postgres, clock);
  const { watch, notify } = createWorkNotifier(postgres, WORK_CHANNEL);
  const own = {
    ...createReceiverPort(postgres, clock, database),
    ...createEnqueue(postgres.query, clock),
    watch,
  };
  return createInboxStore(database, createJobQueue(createRetryingBatch(postgres), database.now), own, notify);
}
