import { formatAge } from '../../text/duration.js';
import { formatCount } from '../../text/numbers.js';
import type { Activity, Cause } from './activity.js';

/** A problem that somebody has to look at. The commands doctor and status and the page Now show the same text. */
export interface Trouble {
  readonly check: Cause['check'] | 'worker' | 'receiver' | 'backlog' | 'jobs' | 'lists';
  readonly isFault: boolean;
  readonly found: string;
  readonly todo: string;
  /** The page with the details. */
  readonly href: string;
  /** The command with the details. Null if `todo` names it. */
  readonly command: string | null;
}

export function findTroubles(activity: Activity, now: number): Trouble[] {
  const { jobs, delayed, causes } = activity;
  const isRefused = causes.some(({ check }) => check === 'registry');
  return [
    ...causes.map(cause => ({ ...cause, isFault: true, href: CAUSE_PAGES[cause.check], command: null })),
    ...reportMissingProcess(activity, 'worker', now),
    ...reportMissingProcess(activity, 'receiver', now),
    ...delayed.map(({ what, since, deliveryId, jobId, error }) => ({
      check: 'backlog' as const,
      isFault: true,
      found: `${what} for ${formatAge(since, now)}${error === null ? '' : `: ${error}`}`,
      todo:
        error === null ? 'It has not failed: it is waiting for its turn.' : 'It is retried automatically.',
      ...(deliveryId === null ? linkToItem('jobs', jobId) : linkToItem('deliveries', deliveryId)),
    })),
    ...reportJobs(jobs.tried_first, ['that failed is waiting', 'that failed are waiting'], {
      todo: 'The registry answers again: failed jobs are retried first.',
      ...linkToJobs('waiting'),
    }),
    ...reportJobs(jobs.retrying, ['failed more than once', 'failed more than once'], {
      error: jobs.retrying_error,
      todo: 'It is retried automatically, at growing intervals.',
      ...linkToItem('jobs', jobs.retrying_job),
    }),
    ...reportJobs(jobs.failed, ['has failed', 'have failed'], {
      todo: 'The next scheduled read retries it. To retry now, run "carbon-mirror jobs retry --all".',
      ...linkToJobs('failed'),
    }),
    // The cause of a refusal is reported already.
    ...reportJobs(isRefused ? 0 : jobs.paused, ['is paused', 'are paused'], {
      todo: 'Each waits for the cause named in its error, and is retried automatically.',
      ...linkToJobs('paused'),
    }),
  ];
}

/** Reports lists whose last read failed or looked implausible. */
export function reportFailingLists(count: number): Trouble[] {
  if (count === 0) return [];
  const found = `The last read of ${formatCount(count, 'list')} failed or looked implausible`;
  const todo = 'Each is read again automatically. The page of its organization shows the error.';
  return [
    { check: 'lists', isFault: false, found, todo, href: '/organizations', command: 'carbon-mirror status' },
  ];
}

const CAUSE_PAGES: Readonly<Record<Cause['check'], string>> = {
  registry: '/jobs?state=paused',
  rejected_webhooks: '/rejected-webhooks',
};

const PROCESSES = {
  worker: { command: 'work', href: '/jobs' },
  receiver: { command: 'receive', href: '/deliveries' },
} as const;

/** Reports a worker or receiver that does not run. */
function reportMissingProcess(activity: Activity, check: keyof typeof PROCESSES, now: number): Trouble[] {
  const { state, seenAt } = activity[check];
  if (state === 'alive') return [];
  const found =
    seenAt === null
      ? `No ${check} has ever run`
      : `No ${check} is running: its last heartbeat was ${formatAge(seenAt, now)} ago`;
  const { command, href } = PROCESSES[check];
  return [
    { check, isFault: true, found, todo: `Start "carbon-mirror ${command}" (or "up").`, href, command: null },
  ];
}

type JobAdvice = Pick<Trouble, 'todo' | 'href' | 'command'> & { readonly error?: string | null };

/** Reports jobs in a state, such as "2 jobs have failed". */
function reportJobs(
  count: number,
  [singular, plural]: readonly [string, string],
  { error, ...advice }: JobAdvice,
): Trouble[] {
  if (count === 0) return [];
  const found = `${formatCount(count, 'job')} ${count === 1 ? singular : plural}${error === undefined ? '' : `: ${error}`}`;
  return [{ check: 'jobs', isFault: advice.href.endsWith('failed'), found, ...advice }];
}

/** Links to one job or delivery, or to the list if its id is unknown. */
function linkToItem(list: 'jobs' | 'deliveries', id: number | null) {
  if (id === null) return { href: `/${list}`, command: `carbon-mirror ${list} list` };
  return { href: `/${list}/${id}`, command: `carbon-mirror ${list} show ${id}` };
}

/** Links to the jobs in a state. */
function linkToJobs(state: 'waiting' | 'failed' | 'paused') {
  return { href: `/jobs?state=${state}`, command: `carbon-mirror jobs list --state ${state}` };
}
