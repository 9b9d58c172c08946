import type { FreshnessReason, FreshnessState } from '../../store/contract/states.js';

/** How far a resource can be trusted, as the view `freshness` has it. */
export interface Standing {
  readonly state: string;
  readonly reason: string | null;
  /** Null where the latest read did not fail. */
  readonly failing_since: string | null;
}

export interface Told extends Standing {
  readonly error: string | null;
  readonly oldest_unread_at: string | null;
  readonly worker_seen_at: string | null;
}

export type Colour = 'good' | 'doubt' | 'bad' | 'none';

interface Words extends Standing {
  readonly state: FreshnessState;
  readonly reason: FreshnessReason | null;
  readonly colour: Colour;
  readonly meaning: string;
}

/** All that there are, from best to worst. Nothing is expected of who was uninstalled. */
export const FRESHNESS: readonly Words[] = [
  of('no_access', 'uninstalled', 'none', 'the organization has removed the app; rows stay until purge'),
  of('fresh', null, 'good', 'read completely within two intervals, and what webhooks announced is read'),
  of('no_access', 'suspended', 'none', 'the organization has suspended the app; rows stay as they were'),
  of('never_read', 'waiting', 'none', 'it has not been read completely yet'),
  of('stale', 'being_read', 'doubt', 'a read is writing it at this moment'),
  of('stale', 'overdue', 'doubt', 'the last complete read is older than two intervals'),
  of('stale', 'clock_changed', 'doubt', 'the clock was set back, behind the last read'),
  of('stale', 'unread_webhook', 'doubt', 'a webhook has been waiting for over a minute'),
  of('stale', 'worker_gone', 'bad', 'no worker has written a heartbeat for a minute'),
  of('never_read', 'read_interrupted', 'none', 'the first read was interrupted or inconsistent'),
  of('stale', 'read_interrupted', 'doubt', 'the last read was interrupted or inconsistent'),
  of('not_offered', null, 'none', 'the registry does not have this list for the organization'),
  of('no_access', 'no_permission', 'none', 'the permission is missing, or refused although granted'),
  of(
    'stale',
    'removals_unconfirmed',
    'doubt',
    'rows were missing; a second read must confirm that they are gone',
  ),
  of('never_read', 'read_failed', 'bad', 'the first read failed'),
  of('stale', 'read_failed', 'bad', 'the last read failed, for a webhook or for longer than its interval'),
];

function of(state: FreshnessState, reason: FreshnessReason | null, colour: Colour, meaning: string): Words {
  return { state, reason, failing_since: null, colour, meaning };
}

export const WAITING = { state: 'never_read', reason: 'waiting', failing_since: null } as const;
export const FRESH = { state: 'fresh', reason: null, failing_since: null } as const;

/** All that can be said of a resource. */
export const STANDINGS: readonly Standing[] = [...FRESHNESS, { ...FRESH, failing_since: '' }];

/** The worse one first. A fresh one whose last read failed is worse than one whose did not. */
export function compareStandings(one: Standing, other: Standing): number {
  return rankOf(other) - rankOf(one);
}

/** How bad it is. */
export function rankOf(standing: Standing): number {
  const rank = 2 * FRESHNESS.findIndex(words => isOf(standing, words));
  return isFreshAndFailing(standing) ? rank + 1 : rank;
}

function isOf({ state, reason }: Standing, words: Words): boolean {
  return words.state === state && words.reason === reason;
}

function isFreshAndFailing({ state, failing_since }: Standing): boolean {
  return state === 'fresh' && failing_since !== null;
}

/** Never green beside a failure. */
export function colourOf(standing: Standing): Colour {
  if (isFreshAndFailing(standing)) return 'doubt';
  return FRESHNESS.find(words => isOf(standing, words))?.colour ?? 'none';
}

/** `stale (read failed)` */
export function wordsOf(standing: Standing): string {
  const { state, reason } = standing;
  if (isFreshAndFailing(standing)) return 'fresh, but the last read failed';
  return `${state}${reason === null ? '' : ` (${reason})`}`.replaceAll('_', ' ');
}

/** Why it is not fresh, and what went wrong with the last read; null where there is nothing to say. */
export function sentenceOf(told: Told): string | null {
  const { state, error } = told;
  const why = state === 'stale' ? whyStale(told) : null;
  return why === null ? error : `${why}${error === null ? '' : ` (${error})`}`;
}

function whyStale(told: Told): string | null {
  if (told.reason === 'read_failed' || told.reason === 'read_interrupted')
    return told.error === null ? meaningOf(told) : null;
  if (told.reason === 'removals_unconfirmed' && told.error !== null) return null;
  if (told.reason === 'unread_webhook') return `a delivery of ${told.oldest_unread_at} is not read yet`;
  if (told.reason === 'worker_gone') return `no worker has been seen since ${told.worker_seen_at}`;
  return meaningOf(told);
}

function meaningOf(standing: Standing): string | null {
  return FRESHNESS.find(words => isOf(standing, words))?.meaning ?? null;
}
