import { formatAge } from '../../text/duration.js';
import { formatCount } from '../../text/numbers.js';
import { getRegistryAccessAdvice } from '../../registry/errors.js';
import { truncateName } from '../../text/clean-text.js';
import { formatAmounts } from '../answer/describe-totals.js';
import {
  type Activity,
  type Cause,
  type Suspensions,
  UNKNOWN_ORDER_REPORTED_DAYS,
  type UnknownOrders,
} from './activity.js';
import { getRejectionAdvice, type RejectedSum } from './rejected-webhooks.js';

/** A problem that somebody has to look at. The commands doctor and status and the page Now show the same text. */
export interface Trouble {
  readonly check:
    | 'registry'
    | 'rejected_webhooks'
    | 'worker'
    | 'receiver'
    | 'backlog'
    | 'jobs'
    | 'lists'
    | 'orders'
    | 'suspensions';
  readonly isFault: boolean;
  /** Whether nothing more is read, or a person has to act. */
  readonly isSevere: boolean;
  readonly found: string;
  readonly todo: string;
  /** The person or system that can remedy the problem. Null if nobody has to act. An administrator is one of the organization. */
  readonly actor: 'operator' | 'administrator' | 'registry' | null;
  /** The page with the details. */
  readonly href: string;
  /** The command with the details. Null if `todo` names it. */
  readonly command: string | null;
  /** What a person can do about it in the console. */
  readonly action: 'retry' | 'read_now' | null;
}

const MINOR = { isSevere: false, action: null, actor: null } as const;

/** Error codes of calls that a registry out of order leads to. */
const OUTAGE_CODES: readonly string[] = ['unavailable', 'timeout', 'rate_limited', 'bad_answer'];

/** Lists the problems that somebody has to look at, such as a worker that does not run. */
export function findTroubles(activity: Activity, now: number): Trouble[] {
  const { jobs, delayed, causes, unknownOrders, suspensions } = activity;
  const isRefused = causes.some(({ code }) => code === 'registry_refuses');
  return [
    ...causes.map(cause => reportCause(cause, now)),
    ...reportMissingProcess(activity, 'worker', now),
    ...reportMissingProcess(activity, 'receiver', now),
    ...(unknownOrders === null ? [] : [reportUnknownOrders(unknownOrders, now)]),
    ...(suspensions === null ? [] : [reportSuspensions(suspensions, now)]),
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
      actor: OUTAGE_CODES.includes(jobs.retrying_code ?? '') ? 'registry' : null,
      todo: 'It is retried automatically, at growing intervals.',
      ...linkToItem('jobs', jobs.retrying_job),
    }),
    ...reportJobs(jobs.failed, ['has failed', 'have failed'], {
      isFault: true,
      isSevere: true,
      actor: 'operator',
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

/** Reports how many lists have a last read that failed or looked implausible. Returns nothing if the count is 0. */
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

/** Reports why the registry cannot be read, or why its webhooks do not arrive. */
function reportCause(cause: Cause, now: number): Trouble {
  const common = { ...MINOR, isFault: true, actor: 'operator', command: null } as const;
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
    found: `${formatCount(sum.rejected, 'webhook')} rejected since ${formatMinute(sum.since, now)}: ${describeRejectionReason(sum)}`,
    todo: `${getRejectionAdvice(sum)} See "carbon-mirror deliveries rejected".`,
  };
}

/** Formats a minute such as `2026-01-31T09:30` as `09:30 UTC`. Adds the date if it is not today. */
function formatMinute(minute: string, now: number): string {
  const [day = '', time] = minute.split('T');
  return `${new Date(now).toISOString().startsWith(day) ? '' : `${day} `}${time} UTC`;
}

/**
 * Describes why webhooks were rejected, such as `no signature (401)`. If the signature was in a header with an unexpected name, returns the
 * name of this header, such as `signed in x-acme-signature-256`.
 */
function describeRejectionReason({ reason, status, header_prefix: prefix }: RejectedSum): string {
  if (reason === 'no_signature' && prefix !== '') return `signed in x-${prefix}-signature-256`;
  return `${reason.replaceAll('_', ' ')} (${status})`;
}

const PROCESSES = {
  worker: { command: 'work', href: '/jobs' },
  receiver: { command: 'receive', href: '/deliveries' },
} as const;

/** Reports a worker or receiver that does not run. Returns nothing if it runs. */
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
    {
      ...MINOR,
      check,
      isFault: true,
      isSevere: check === 'worker',
      actor: 'operator',
      found,
      todo,
      href,
      command: null,
    },
  ];
}

/** Reports orders whose result nobody knows, because the registry's answer was lost. */
function reportUnknownOrders({ orders, firstId, since }: UnknownOrders, now: number): Trouble {
  const subject =
    orders === 1 ? `The result of order ${firstId} is` : `The results of ${formatCount(orders, 'order')} are`;
  return {
    ...MINOR,
    check: 'orders',
    isFault: false,
    isSevere: true,
    actor: 'operator',
    found: `${subject} unknown${orders === 1 ? '' : ', the first'} for ${formatAge(since, now)}: the registry's answer was lost`,
    todo: `Look at the organization's reservations and retirements at the registry, then order again what was not done. No order is repeated by itself. This notice ends ${UNKNOWN_ORDER_REPORTED_DAYS} days after the order.`,
    ...(orders === 1
      ? { href: `/orders/${firstId}`, command: `carbon-mirror orders show ${firstId}` }
      : { href: '/orders?state=unknown', command: 'carbon-mirror orders list --state unknown' }),
  };
}

/** Reports organizations that have suspended the app, and the credits that cannot be sold during the suspension. */
function reportSuspensions(suspensions: Suspensions, now: number): Trouble {
  const { organizations, firstId, firstName, since, amounts, rowsWithoutAmount } = suspensions;
  const isOne = organizations === 1;
  // The sentence begins with a fixed word, because pages capitalize its first letter.
  const owners = isOne ? truncateName(firstName ?? firstId) : formatCount(organizations, 'organization');
  const offSale = `${formatAmounts(amounts)} off sale${isOne ? '' : ', the first'} for ${formatAge(since, now)}`;
  const missing =
    rowsWithoutAmount === 0 ? '' : ` (without ${formatCount(rowsWithoutAmount, 'credit')} of unknown amount)`;
  return {
    ...MINOR,
    check: 'suspensions',
    isFault: false,
    actor: 'administrator',
    found: `The app is suspended by ${owners}: ${offSale}${missing}`,
    todo: `Nothing of ${isOne ? 'it' : 'them'} is read or for sale until the suspension ends at the registry.`,
    ...(isOne
      ? { href: `/organizations/${firstId}`, command: `carbon-mirror organizations show ${firstId}` }
      : {
          href: '/installations?state=suspended',
          command: 'carbon-mirror installations list --state suspended',
        }),
  };
}

const ACTORS = {
  operator: 'you',
  administrator: 'an administrator of the organization',
  registry: 'the registry',
} as const;

/** Describes who can remedy a problem, such as `Who can act: the registry.` Returns null if it needs nobody. */
export function describeActor({ actor }: Pick<Trouble, 'actor'>): string | null {
  return actor === null ? null : `Who can act: ${ACTORS[actor]}.`;
}

type JobAdvice = Pick<Trouble, 'todo' | 'href' | 'command'> &
  Partial<Pick<Trouble, 'isFault' | 'isSevere' | 'actor' | 'action'>> & { readonly error?: string | null };

/** Reports how many jobs are in a state, such as "2 jobs have failed". Returns nothing if the count is 0. */
function reportJobs(
  count: number,
  [singular, plural]: readonly [string, string],
  { error, ...advice }: JobAdvice,
): Trouble[] {
  if (count === 0) return [];
  const found = `${formatCount(count, 'job')} ${count === 1 ? singular : plural}${error === undefined ? '' : `: ${error}`}`;
  return [{ ...MINOR, check: 'jobs', isFault: false, found, ...advice }];
}

/** Returns the page and the command that show one job or delivery. A null id links to the whole list. */
function linkToItem(list: 'jobs' | 'deliveries', id: number | null) {
  if (id === null) return { href: `/${list}`, command: `carbon-mirror ${list} list` };
  return { href: `/${list}/${id}`, command: `carbon-mirror ${list} show ${id}` };
}

/** Returns the page and the command that list the jobs in a state. */
function linkToJobs(state: 'waiting' | 'failed' | 'paused') {
  return { href: `/jobs?state=${state}`, command: `carbon-mirror jobs list --state ${state}` };
}
