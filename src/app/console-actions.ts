import type { ConsoleActions } from '../console/actions/action-routes.js';
import type { RegistryComparison } from '../console/registry-comparison.js';
import { createInstallationJob } from '../inbox/job.js';
import type { InboxPort } from '../inbox/port.js';
import type { Log } from './log.js';
import { createDiscoverJob } from '../sync/schedule/discover-installations.js';

const TRIGGER = 'person';
const LOG_MESSAGE = 'console action requested';

/** Creates the actions behind the console's buttons. Each action is logged. */
export function createConsoleActions(
  openInbox: () => Promise<InboxPort>,
  log: Pick<Log, 'info'>,
  comparison: RegistryComparison | null = null,
): ConsoleActions {
  /** Calls `run` with an inbox that is open only during the call. */
  async function withInbox<T>(run: (inbox: InboxPort) => Promise<T>): Promise<T> {
    const inbox = await openInbox();
    try {
      return await run(inbox);
    } finally {
      await inbox.close();
    }
  }

  return {
    retryJobs: async jobIds => {
      const retried = await withInbox(inbox => inbox.retryFailed(jobIds));
      const jobs = retried.flatMap(({ job }) => job ?? []);
      log.info({ action: 'retry', requested: jobIds, jobs }, LOG_MESSAGE);
      return jobs;
    },
    requestSyncs: async targets => {
      const newJobs = targets.map(({ installation_id: installationId, organization_id: organizationId }) =>
        createInstallationJob(installationId, organizationId, TRIGGER),
      );
      const jobs = await withInbox(inbox => inbox.enqueue(newJobs));
      const installations = targets.map(target => target.installation_id);
      log.info({ action: 'sync', installations, jobs }, LOG_MESSAGE);
      return jobs;
    },
    requestDiscovery: async () => {
      const jobs = await withInbox(inbox => inbox.enqueue([createDiscoverJob(TRIGGER)]));
      log.info({ action: 'discover', jobs }, LOG_MESSAGE);
      return jobs;
    },
    startComparison:
      comparison &&
      (() => {
        log.info({ action: 'compare' }, LOG_MESSAGE);
        comparison.start();
      }),
  };
}
