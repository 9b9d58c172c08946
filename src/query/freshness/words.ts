import type { FreshnessReason, FreshnessState } from '../../store/contract/states.js';
import { formatCount } from '../../text/numbers.js';

/** The state of a resource in the view `freshness`, and the reason for it. */
export interface FreshnessStanding {
  readonly state: string;
  readonly reason: string | null;
  /** Null where the latest read did not fail. */
  readonly failing_since: string | null;
}

export interface FreshnessDetails extends FreshnessStanding {
  readonly error: string | null;
  readonly oldest_unread_at: string | null;
  readonly worker_seen_at: string | null;
}

export type Colour = 'good' | 'doubt' | 'bad' | 'none';

interface Words extends FreshnessStanding {
  readonly state: FreshnessState;
  readonly reason: FreshnessReason | null;
  readonly colour: Colour;
  readonly meaning: string;
}

/** All states with their reasons, from best to worst. An uninstalled organization is first, because its data need not be fresh. */
export const FRESHNESS: readonly Words[] = [
  of(
    'no_access',
    'uninstalled',
    'none',
    'the organization has removed the app; its rows stay until they are purged',
  ),
  of(
    'fresh',
    null,
    'good',
    'read completely within the last two intervals of the schedule, including all announced changes',
  ),
  of(
    'no_access',
    'suspended',
    'none',
    'the organization has suspended the app; its rows stay, but are no longer updated',
  ),
  of('never_read', 'waiting', 'none', 'the first complete read has not ended yet'),
  of('stale', 'being_read', 'doubt', 'a read is in progress'),
  of('stale', 'overdue', 'doubt', 'the last complete read is older than two intervals of the schedule'),
  of('stale', 'clock_changed', 'doubt', 'the clock was set back to a time before the last read'),
  of('stale', 'unread_webhook', 'doubt', 'a webhook has waited for more than a minute to be read'),
  of('stale', 'worker_gone', 'bad', 'no worker has written a heartbeat for more than a minute'),
  of(
    'never_read',
    'read_interrupted',
    'none',
    'the first read was interrupted, or its pages were inconsistent',
  ),
  of('stale', 'read_interrupted', 'doubt', 'the last read was interrupted, or its pages were inconsistent'),
  of('not_offered', null, 'none', 'the registry does not have this list for the organization'),
  of(
    'no_access',
    'no_permission',
    'none',
    'the permission is missing, or the registry refused it although it was granted',
  ),
  of(
    'stale',
    'removals_unconfirmed',
    'doubt',
    'rows were missing from the last read; a second read must confirm that they are gone',
  ),
  of('never_read', 'read_failed', 'bad', 'the first read failed'),
  of(
    'stale',
    'read_failed',
    'bad',
    'the last read failed; a webhook had requested it, or the data is older than one interval',
  ),
];

function of(state: FreshnessState, reason: FreshnessReason | null, colour: Colour, meaning: string): Words {
  return { state, reason, failing_since: null, colour, meaning };
}

export const WAITING = { state: 'never_read', reason: 'waiting', failing_since: null } as const;
export const FRESH = { state: 'fresh', reason: null, failing_since: null } as const;

/** All states of a resource, and `fresh` with a failed last read. */
export const STANDINGS: readonly FreshnessStanding[] = [...FRESHNESS, { ...FRESH, failing_since: '' }];

/** Compares two states for sorting, worst first. `fresh` is worse if the last read failed. */
export function compareStandings(one: FreshnessStanding, other: FreshnessStanding): number {
  return rankOf(other) - rankOf(one);
}

/** Returns the rank of a state; a worse state has a higher rank. */
export function rankOf(standing: FreshnessStanding): number {
  const rank = 2 * FRESHNESS.findIndex(words => isOf(standing, words));
  return isFreshAndFailing(standing) ? rank + 1 : rank;
}

function isOf({ state, reason }: FreshnessStanding, words: Words): boolean {
  return words.state === state && words.reason === reason;
}

function isFreshAndFailing({ state, failing_since }: FreshnessStanding): boolean {
  return state === 'fresh' && failing_since !== null;
}

/** Returns the colour of a state. `fresh` is not green if the last read failed. */
export function colourOf(standing: FreshnessStanding): Colour {
  if (isFreshAndFailing(standing)) return 'doubt';
  return FRESHNESS.find(words => isOf(standing, words))?.colour ?? 'none';
}

/** Returns a state as text, such as `stale (read failed)`. */
export function wordsOf(standing: FreshnessStanding): string {
  const { state, reason } = standing;
  if (isFreshAndFailing(standing)) return 'fresh, but the last read failed';
  return `${state}${reason === null ? '' : ` (${reason})`}`.replaceAll('_', ' ');
}

/** Describes organizations whose list is not fresh. Null if it is fresh or was never read. */
export function describeFreshnessSum(
  sum: FreshnessStanding & { readonly resources: number; readonly as_of: string | null },
): string | null {
  if (sum.as_of === null || colourOf(sum) === 'good') return null;
  return `${wordsOf(sum)} in ${formatCount(sum.resources, 'organization')}, last complete read ${sum.as_of}.`;
}

/** Returns why a resource is stale and the error of its last read; null if there is neither. */
export function sentenceOf(told: FreshnessDetails): string | null {
  const { state, error } = told;
  const why = state === 'stale' ? whyStale(told) : null;
  return why === null ? error : `${why}${error === null ? '' : ` (${error})`}`;
}

function whyStale(told: FreshnessDetails): string | null {
  if (told.reason === 'read_failed' || told.reason === 'read_interrupted')
    return told.error === null ? meaningOf(told) : null;
  if (told.reason === 'removals_unconfirmed' && told.error !== null) return null;
  if (told.reason === 'unread_webhook')
    return `the delivery received ${told.oldest_unread_at} has not been read yet`;
  if (told.reason === 'worker_gone') return `no worker has been seen since ${told.worker_seen_at}`;
  return meaningOf(told);
}

function meaningOf(standing: FreshnessStanding): string | null {
  return FRESHNESS.find(words => isOf(standing, words))?.meaning ?? null;
}
