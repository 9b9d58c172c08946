import { formatCount } from '../../text/numbers.js';
import { formatAge } from '../../text/format-duration.js';
import type { Activity, Cause } from './activity.js';

/** What does not go on by itself, in the words of doctor, status and the pages alike. */
export interface Trouble {
  readonly check: Cause['check'] | 'worker' | 'receiver' | 'backlog' | 'jobs' | 'lists';
  readonly isFault: boolean;
  readonly found: string;
  readonly todo: string;
  /** The page that shows it. */
  readonly href: string;
  /** The command that does; null where `todo` says it. */
  readonly command: string | null;
}

export function findTroubles(activity: Activity, now: number): Trouble[] {
  const { jobs, delayed, causes } = activity;
  const isRefused = causes.some(({ check }) => check === 'registry');
  return [
    ...causes.map(cause => ({ ...cause, isFault: true, href: PAGES[cause.check], command: null })),
    ...lifeless(activity, 'worker', 'work', now),
    ...lifeless(activity, 'receiver', 'receive', now),
    ...delayed.map(({ what, since: from, deliveryId, jobId, error }) => ({
      check: 'backlog' as const,
      isFault: true,
      found: `${what} for ${formatAge(from, now)}${error === null ? '' : `: ${error}`}`,
      todo:
        error === null ? 'It has not failed: it is waiting for its turn.' : 'It is retried automatically.',
      ...(deliveryId === null ? one('jobs', jobId) : one('deliveries', deliveryId)),
    })),
    ...someJobs(jobs.tried_first, ['that failed waits', 'that failed wait'], {
      todo: 'The registry has recovered: failed jobs are retried before the others run.',
      ...inState('waiting'),
    }),
    ...someJobs(jobs.retrying, ['failed more than once', 'failed more than once'], {
      reason: `: ${jobs.retrying_error}`,
      todo: 'It is retried automatically, at growing intervals.',
      ...one('jobs', jobs.retrying_job),
    }),
    ...someJobs(jobs.failed, ['has failed', 'have failed'], {
      todo: 'The schedule reads the same lists again; "carbon-mirror jobs retry --all" does it now.',
      ...inState('failed'),
    }),
    ...someJobs(isRefused ? 0 : jobs.paused, ['is paused', 'are paused'], {
      todo: 'Each is retried automatically once the cause named in its error is gone.',
      ...inState('paused'),
    }),
  ];
}

export function findFailing(lists: number): Trouble[] {
  if (lists === 0) return [];
  const found = `The last read of ${formatCount(lists, 'list')} failed or looked implausible`;
  const todo = 'Each is read again automatically; the page of its organization shows why.';
  return [{ check: 'lists', isFault: false, found, todo, href: '/organizations', command: STATUS }];
}

const STATUS = 'carbon-mirror status';

const PAGES: Readonly<Record<Cause['check'], string>> = {
  registry: '/jobs?state=paused',
  rejected_webhooks: '/rejected-webhooks',
};

function lifeless(activity: Activity, check: 'worker' | 'receiver', command: string, now: number): Trouble[] {
  const { state, seenAt } = activity[check];
  if (state === 'alive') return [];
  const found =
    seenAt === null
      ? `No ${check} has ever run`
      : `No ${check} is running: its last heartbeat came ${formatAge(seenAt, now)} ago`;
  const href = check === 'worker' ? '/jobs' : '/deliveries';
  return [
    { check, isFault: true, found, todo: `Start "carbon-mirror ${command}" (or "up").`, href, command: null },
  ];
}

type Told = Pick<Trouble, 'todo' | 'href' | 'command'> & { readonly reason?: string };

function someJobs(count: number, [is, are]: readonly [string, string], told: Told): Trouble[] {
  if (count === 0) return [];
  const found = `${formatCount(count, 'job')} ${count === 1 ? is : are}${told.reason ?? ''}`;
  return [{ check: 'jobs', isFault: told.href.endsWith('failed'), found, ...told }];
}

function one(list: 'jobs' | 'deliveries', id: number | null) {
  if (id === null) return { href: `/${list}`, command: `carbon-mirror ${list} list` };
  return { href: `/${list}/${id}`, command: `carbon-mirror ${list} show ${id}` };
}

function inState(state: string) {
  return { href: `/jobs?state=${state}`, command: `carbon-mirror jobs list --state ${state}` };
}
