import type { CreateConsoleActions } from '../console/actions/action-routes.js';
import type { RegistryComparison } from '../console/registry-comparison.js';
import { createInstallationJob } from '../inbox/job.js';
import type { InboxPort } from '../inbox/port.js';
import type { Log } from './log.js';
import { createDiscoverJob } from '../sync/schedule/discover-installations.js';

const TRIGGER = 'person';
const LOG_MESSAGE = 'console action requested';

/** Creates the actions behind the console's buttons. Each action is logged with the visitor's name. */
export function createConsoleActions(
  openInbox: () => Promise<InboxPort>,
  log: Pick<Log, 'info'>,
  comparison: RegistryComparison | null = null,
): CreateConsoleActions {
  /** Calls `run` with an inbox that is open only during the call. */
  async function withInbox<T>(run: (inbox: InboxPort) => Promise<T>): Promise<T> {
    const inbox = await openInbox();
    try {
      return await run(inbox);
    } finally {
      await inbox.close();
    }
  }

  return actor => ({
    retryJobs: async jobIds => {
      const retried = await withInbox(inbox => inbox.retryFailed(jobIds));
      const jobs = retried.flatMap(({ job }) => job ?? []);
      log.info({ action: 'retry', actor, requested: jobIds, jobs }, LOG_MESSAGE);
      return jobs;
    },
    requestSyncs: async targets => {
      const newJobs = targets.map(({ installation_id: installationId, organization_id: organizationId }) =>
        createInstallationJob(installationId, organizationId, TRIGGER),
      );
      const jobs = await withInbox(inbox => inbox.enqueue(newJobs));
      const installations = targets.map(target => target.installation_id);
      log.info({ action: 'sync', actor, installations, jobs }, LOG_MESSAGE);
      return jobs;
    },
    requestDiscovery: async () => {
      const jobs = await withInbox(inbox => inbox.enqueue([createDiscoverJob(TRIGGER)]));
      log.info({ action: 'discover', actor, jobs }, LOG_MESSAGE);
      return jobs;
    },
    placeOrder: async order => {
      const stored = await withInbox(inbox => inbox.placeOrder(order));
      const { id, action, organizationId, creditId, amount, reservationId } = stored;
      const fields = { order: id, organizationId, creditId, amount, reservationId };
      log.info({ action, actor, ...fields, isNew: stored.state === 'waiting' }, LOG_MESSAGE);
      return stored;
    },
    startComparison:
      comparison &&
      (() => {
        log.info({ action: 'compare', actor }, LOG_MESSAGE);
        comparison.start();
      }),
  });
}
