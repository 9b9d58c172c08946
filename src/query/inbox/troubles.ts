import { formatAge } from '../../text/duration.js';
import { formatCount } from '../../text/numbers.js';
import { getRegistryAccessAdvice } from '../../registry/errors.js';
import type { Activity, Cause } from './activity.js';
import { getRejectionAdvice, type RejectedSum } from './rejected-webhooks.js';

/** A problem that somebody has to look at. The commands doctor and status and the page Now show the same text. */
export interface Trouble {
  readonly check: 'registry' | 'rejected_webhooks' | 'worker' | 'receiver' | 'backlog' | 'jobs' | 'lists';
  readonly isFault: boolean;
  /** Whether nothing more is read, or a person has to act. */
  readonly isSevere: boolean;
  readonly found: string;
  readonly todo: string;
  /** The page with the details. */
  readonly href: string;
  /** The command with the details. Null if `todo` names it. */
  readonly command: string | null;
  /** What a person can do about it in the console. */
  readonly action: 'retry' | 'read_now' | null;
}

const MINOR = { isSevere: false, action: null } as const;

export function findTroubles(activity: Activity, now: number): Trouble[] {
  const { jobs, delayed, causes } = activity;
  const isRefused = causes.some(({ code }) => code === 'registry_refuses');
  return [
    ...causes.map(cause => reportCause(cause, now)),
    ...reportMissingProcess(activity, 'worker', now),
    ...reportMissingProcess(activity, 'receiver', now),
    ...delayed.map(({ code, since, deliveryId, jobId, error }) => ({
      ...MINOR,
      check: 'backlog' as const,
      isFault: true,
      found: `${DELAYS[code]} for ${formatAge(since, now)}${error === null ? '' : `: ${error}`}`,
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
      isFault: true,
      isSevere: true,
      action: 'retry',
      todo: 'The next scheduled read retries it. To retry now, run "carbon-mirror jobs retry --all".',
      ...linkToJobs('failed'),
    }),
    // The cause of a refusal is reported already.
    ...reportJobs(isRefused ? 0 : jobs.paused, ['is paused', 'are paused'], {
      action: 'read_now',
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
  const links = { href: '/organizations', command: 'carbon-mirror status' };
  return [{ ...MINOR, check: 'lists', isFault: false, found, todo, ...links }];
}

/** How each kind of waiting work is described. How long it has waited follows. */
const DELAYS = {
  delivery_unread: 'A delivery is unread, and has waited',
  schedule_overdue: 'Scheduled work is older than its interval, and has waited',
  queue_stalled: 'The jobs in the queue do not move: the oldest has waited',
} as const;

function reportCause(cause: Cause, now: number): Trouble {
  const common = { ...MINOR, isFault: true, command: null };
  switch (cause.code) {
    case 'registry_refuses':
      return {
        ...common,
        check: 'registry',
        found: cause.error,
        todo: getRegistryAccessAdvice('unauthorized'),
        href: '/jobs?state=paused',
        action: 'read_now',
      };
    case 'webhooks_rejected':
      return {
        ...common,
        check: 'rejected_webhooks',
        ...describeRejection(cause, now),
        href: '/rejected-webhooks',
      };
    default:
      return cause satisfies never;
  }
}

/** Describes webhooks that were rejected for one reason, and what to check. */
export function describeRejection(sum: RejectedSum, now: number): Pick<Trouble, 'found' | 'todo'> {
  return {
    found: `${formatCount(sum.rejected, 'webhook')} rejected since ${formatMinute(sum.since, now)}: ${describeReason(sum)}`,
    todo: `${getRejectionAdvice(sum)} See "carbon-mirror deliveries rejected".`,
  };
}

/** Formats a minute, with its day unless that is today. */
function formatMinute(minute: string, now: number): string {
  const [day = '', time] = minute.split('T');
  return `${new Date(now).toISOString().startsWith(day) ? '' : `${day} `}${time} UTC`;
}

function describeReason({ reason, status, header_prefix: prefix }: RejectedSum): string {
  if (reason === 'no_signature' && prefix !== '') return `signed in x-${prefix}-signature-256`;
  return `${reason.replaceAll('_', ' ')} (${status})`;
}

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
  const todo = `Start "carbon-mirror ${command}" (or "up").`;
  return [
    { check, isFault: true, isSevere: check === 'worker', found, todo, href, command: null, action: null },
  ];
}

type JobAdvice = Pick<Trouble, 'todo' | 'href' | 'command'> &
  Partial<Pick<Trouble, 'isFault' | 'isSevere' | 'action'>> & { readonly error?: string | null };

/** Reports jobs in a state, such as "2 jobs have failed". */
function reportJobs(
  count: number,
  [singular, plural]: readonly [string, string],
  { error, ...advice }: JobAdvice,
): Trouble[] {
  if (count === 0) return [];
  const found = `${formatCount(count, 'job')} ${count === 1 ? singular : plural}${error === undefined ? '' : `: ${error}`}`;
  return [{ ...MINOR, check: 'jobs', isFault: false, found, ...advice }];
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
