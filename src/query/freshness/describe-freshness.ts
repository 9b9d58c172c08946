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

interface StateDefinition extends FreshnessStanding {
  readonly state: FreshnessState;
  readonly reason: FreshnessReason | null;
  readonly colour: Colour;
  readonly meaning: string;
}

/** All states with their reasons, from best to worst. An uninstalled organization is first, because its data need not be fresh. */
export const FRESHNESS: readonly StateDefinition[] = [
  defineState(
    'no_access',
    'uninstalled',
    'none',
    'the organization has removed the app; its rows stay until they are purged',
  ),
  defineState(
    'fresh',
    null,
    'good',
    'read completely within the last two intervals of the schedule, including all announced changes',
  ),
  defineState(
    'no_access',
    'suspended',
    'none',
    'the organization has suspended the app; its rows stay, but are no longer updated',
  ),
  defineState('never_read', 'waiting', 'none', 'the first complete read has not ended yet'),
  defineState('stale', 'being_read', 'doubt', 'a read is in progress'),
  defineState(
    'stale',
    'overdue',
    'doubt',
    'the last complete read is older than two intervals of the schedule',
  ),
  defineState('stale', 'clock_changed', 'doubt', 'the clock was set back to a time before the last read'),
  defineState('stale', 'unread_webhook', 'doubt', 'a webhook has waited for more than a minute to be read'),
  defineState('stale', 'worker_gone', 'bad', 'no worker has written a heartbeat for more than a minute'),
  defineState(
    'never_read',
    'read_interrupted',
    'none',
    'the first read was interrupted, or its pages were inconsistent',
  ),
  defineState(
    'stale',
    'read_interrupted',
    'doubt',
    'the last read was interrupted, or its pages were inconsistent',
  ),
  defineState('not_offered', null, 'none', 'the registry does not have this list for the organization'),
  defineState(
    'no_access',
    'no_permission',
    'none',
    'the permission is missing, or the registry refused it although it was granted',
  ),
  defineState(
    'stale',
    'removals_unconfirmed',
    'doubt',
    'rows were missing from the last read; a second read must confirm that they are gone',
  ),
  defineState('never_read', 'read_failed', 'bad', 'the first read failed'),
  defineState(
    'stale',
    'read_failed',
    'bad',
    'the last read failed; a webhook had requested it, or the data is older than one interval',
  ),
];

function defineState(
  state: FreshnessState,
  reason: FreshnessReason | null,
  colour: Colour,
  meaning: string,
): StateDefinition {
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
  const rank = 2 * FRESHNESS.findIndex(definition => hasState(standing, definition));
  return isFreshAndFailing(standing) ? rank + 1 : rank;
}

/** Whether a list has the state and the reason of a definition. */
function hasState({ state, reason }: FreshnessStanding, definition: StateDefinition): boolean {
  return definition.state === state && definition.reason === reason;
}

/** Whether a list is still fresh although its last read failed. */
function isFreshAndFailing({ state, failing_since }: FreshnessStanding): boolean {
  return state === 'fresh' && failing_since !== null;
}

/** Returns the colour of a state. `fresh` is not green if the last read failed. */
export function colourOf(standing: FreshnessStanding): Colour {
  if (isFreshAndFailing(standing)) return 'doubt';
  return FRESHNESS.find(definition => hasState(standing, definition))?.colour ?? 'none';
}

/** Returns a state as text, such as `stale (read failed)`. */
export function wordsOf(standing: FreshnessStanding): string {
  const { state, reason } = standing;
  if (isFreshAndFailing(standing)) return 'fresh, but the last read failed';
  return `${state}${reason === null ? '' : ` (${reason})`}`.replaceAll('_', ' ');
}

/**
 * Describes a group of organizations whose list is in the same state, such as `stale (read failed) in 3 organizations, …`. Null if the list
 * is fresh or was never read.
 */
export function describeFreshnessSum(
  sum: FreshnessStanding & { readonly resources: number; readonly as_of: string | null },
): string | null {
  if (sum.as_of === null || colourOf(sum) === 'good') return null;
  return `${wordsOf(sum)} in ${formatCount(sum.resources, 'organization')}, last complete read ${sum.as_of}.`;
}

/** Describes why a list is stale, with the error of its last read. Null if it is not stale and has no error. */
export function sentenceOf(details: FreshnessDetails): string | null {
  const { state, error } = details;
  const why = state === 'stale' ? describeStaleReason(details) : null;
  return why === null ? error : `${why}${error === null ? '' : ` (${error})`}`;
}

/**
 * Describes why a list is stale. Callers pass only stale lists. Returns null if `details.error`, the error of the last read, already says
 * why.
 */
function describeStaleReason(details: FreshnessDetails): string | null {
  if (details.reason === 'read_failed' || details.reason === 'read_interrupted')
    return details.error === null ? meaningOf(details) : null;
  if (details.reason === 'removals_unconfirmed' && details.error !== null) return null;
  if (details.reason === 'unread_webhook')
    return `the delivery received ${details.oldest_unread_at} has not been read yet`;
  if (details.reason === 'worker_gone') return `no worker has been seen since ${details.worker_seen_at}`;
  return meaningOf(details);
}

/** Returns what a state means, in words. Null for an unknown state. */
function meaningOf(standing: FreshnessStanding): string | null {
  return FRESHNESS.find(definition => hasState(standing, definition))?.meaning ?? null;
}
