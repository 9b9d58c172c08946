import type { ConsoleActions } from '../console/actions/actions.js';
import type { Comparison } from '../console/comparison.js';
import { createInstallationJob } from '../inbox/job.js';
import type { InboxPort } from '../inbox/port.js';
import type { Log } from './log.js';
import { createDiscoverJob } from '../sync/schedule/discover.js';

const PERSON = 'person';

/** Actions work to whoever runs, and says in the log that a person asked for it. The inbox is open only meanwhile. */
export function createConsoleActions(
  openInbox: () => Promise<InboxPort>,
  log: Pick<Log, 'info'>,
  comparison: Comparison | null = null,
): ConsoleActions {
  async function using<T>(work: (inbox: InboxPort) => Promise<T>): Promise<T> {
    const inbox = await openInbox();
    try {
      return await work(inbox);
    } finally {
      await inbox.close();
    }
  }

  return {
    retry: async which => {
      const retried = await using(inbox => inbox.retryFailed(which));
      const jobs = retried.flatMap(({ job }) => job ?? []);
      log.info({ act: 'retry', asked: which, jobs }, 'a person asked in the console');
      return jobs;
    },
    sync: async targets => {
      const wanted = targets.map(({ installation_id: installationId, organization_id: organizationId }) =>
        createInstallationJob(installationId, organizationId, PERSON),
      );
      const jobs = await using(inbox => inbox.enqueue(wanted));
      const installations = targets.map(target => target.installation_id);
      log.info({ act: 'sync', installations, jobs }, 'a person asked in the console');
      return jobs;
    },
    discover: async () => {
      const jobs = await using(inbox => inbox.enqueue([createDiscoverJob(PERSON)]));
      log.info({ act: 'discover', jobs }, 'a person asked in the console');
      return jobs;
    },
    compare:
      comparison &&
      (() => {
        log.info({ act: 'compare' }, 'a person asked in the console');
        comparison.start();
      }),
  };
}
