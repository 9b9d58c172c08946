/** The progress of one subscription while its events are sent: cursors, holds, and what was not saved yet. */
import type { EventPosition } from '../catalogue/event.js';
import type { Attempt, Hold, SubscriptionProgress, Subscription, SubscriptionClaim } from '../port.js';
import { getRetryDelayMs, isGivenUp } from './retry.js';
import type { Cursors, PendingPage } from './read-pending.js';
import type { PendingEvent } from './sender-types.js';
import { isUnreachable } from './subscriber-state.js';

/** The answer to an attempt, or why there was none. The error is null if the event was delivered. */
export interface AttemptOutcome {
  readonly eventId: string;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly status: number | null;
  readonly error: string | null;
}

const GONE = 410;
/** How many attempts may be unsaved. A sender that is killed sends their events again. */
const MAX_UNSAVED = 50;

export type ProgressTracker = ReturnType<typeof createProgress>;

/**
 * Creates the tracker of what was sent to one subscription. `stored` are the holds that were saved earlier. A hold makes the later
 * events of an organization wait after the subscriber refused one of its events.
 */
export function createProgress(
  subscription: Subscription,
  claim: SubscriptionClaim,
  stored: readonly Hold[],
) {
  const holds = new Map(stored.map(hold => [hold.organization_id, hold]));
  const changed = new Set<string>();
  const released = new Set<string>();
  /** Positions that were delivered although an event with a lower number was not. */
  const ahead = new Set<string>();
  const cursors = { change: subscription.change_cursor, occurrence: subscription.occurrence_cursor };
  let attempts: Attempt[] = [];
  let { epoch, delivered_at: deliveredAt } = subscription;
  let pauseReason: string | null = null;
  let isMoved = false;

  const keyOf = ({ stream, number }: EventPosition) => `${stream} ${number}`;

  /**
   * Adds the hold of an organization, or replaces an earlier one, and marks it to be saved. A hold makes the later events of the
   * organization wait after the subscriber refused one of them.
   */
  function storeHold(hold: Hold): void {
    holds.set(hold.organization_id, hold);
    changed.add(hold.organization_id);
    released.delete(hold.organization_id);
  }

  /** Buffers the record of an attempt to send an event, until `takeUnsaved` returns it to be saved. */
  function recordAttempt({ type }: PendingEvent, outcome: AttemptOutcome): void {
    attempts.push({
      subscription_id: subscription.id,
      event_id: outcome.eventId,
      type,
      attempted_at: new Date(outcome.startedAt).toISOString(),
      duration_ms: Math.round(outcome.durationMs),
      status: outcome.status,
      error: outcome.error,
    });
  }

  /**
   * Sets the next attempt of all holds in the state `waiting` to `now`, but only if the subscriber was considered unreachable.
   * Called when an event was delivered.
   */
  function retryWaitingOrganizations(now: string): void {
    if (!isUnreachable({ holds: [...holds.values()], deliveredAt })) return;
    for (const hold of holds.values())
      if (hold.state === 'waiting') storeHold({ ...hold, next_attempt_at: now });
  }

  return {
    cursors,
    claim,
    get facts() {
      return { holds: [...holds.values()], deliveredAt };
    },
    get epoch() {
      return epoch;
    },
    get isPaused() {
      return pauseReason !== null;
    },
    get mustSave() {
      return attempts.length >= MAX_UNSAVED;
    },
    get hasUnsaved() {
      return attempts.length > 0 || changed.size > 0 || released.size > 0 || isMoved;
    },
    isHeld: (organizationId: string) => holds.has(organizationId),
    wasDelivered: (event: EventPosition) => ahead.has(keyOf(event)),
    /** Marks an event as delivered that was delivered before its organization was held, so that the cursors can pass it. */
    markDelivered: (event: EventPosition): void => void ahead.add(keyOf(event)),
    setEpoch: (name: string): void => {
      epoch = name;
      isMoved = true;
    },

    /** Records a delivered event. If its organization is held, moves the position of the hold past the event. */
    recordDelivered: (event: PendingEvent, outcome: AttemptOutcome): void => {
      const startedAt = new Date(outcome.startedAt).toISOString();
      recordAttempt(event, outcome);
      retryWaitingOrganizations(startedAt);
      deliveredAt = startedAt;
      ahead.add(keyOf(event));
      const hold = holds.get(event.organizationId);
      if (hold === undefined || event.stream === 'epoch') return;
      const position =
        event.stream === 'change' ? { change_position: event.number } : { occurrence_position: event.number };
      storeHold({ ...hold, ...position });
    },

    /**
     * Records a refused event and holds its organization, so that later events of it wait. `before` has the cursors just
     * before the event.
     */
    recordRefused: (event: PendingEvent, outcome: AttemptOutcome, before: Cursors): void => {
      recordAttempt(event, outcome);
      const failedAt = outcome.startedAt + outcome.durationMs;
      const at = new Date(failedAt).toISOString();
      const known = holds.get(event.organizationId);
      const isRepeated = known?.refused_stream === event.stream && known.refused_number === event.number;
      const count = isRepeated ? known.attempts + 1 : 1;
      const failingSince = isRepeated ? known.failing_since : at;
      const isOver = outcome.status === GONE || isGivenUp(failingSince, failedAt);
      const isOnlyThis = deliveredAt !== null && deliveredAt > failingSince && outcome.status !== GONE;
      storeHold({
        subscription_id: subscription.id,
        organization_id: event.organizationId,
        state: isOver && isOnlyThis ? 'paused' : 'waiting',
        change_position: known?.change_position ?? before.change,
        occurrence_position: known?.occurrence_position ?? before.occurrence,
        refused_stream: event.stream,
        refused_number: event.number,
        refused_type: event.type,
        attempts: count,
        failing_since: failingSince,
        failed_at: at,
        next_attempt_at: new Date(failedAt + getRetryDelayMs(count)).toISOString(),
        status: outcome.status,
        error: outcome.error ?? 'refused',
      });
      if (isOver && !isOnlyThis) pauseReason = formatPauseReason(event.type, outcome, failingSince);
    },

    /** Ends the hold of an organization whose waiting events were all delivered. */
    endHold: (organizationId: string): void => {
      holds.delete(organizationId);
      changed.delete(organizationId);
      released.add(organizationId);
    },

    /** Moves the cursors past the events of a page that were delivered or whose organization is held. */
    moveCursors: ({ events, end }: PendingPage): void => {
      const isSettled = (event: PendingEvent) => ahead.has(keyOf(event)) || holds.has(event.organizationId);
      for (const stream of ['change', 'occurrence'] as const) {
        const open = events.find(event => event.stream === stream && !isSettled(event));
        const reached = open === undefined ? end[stream] : open.number - 1;
        if (reached <= cursors[stream]) continue;
        cursors[stream] = reached;
        isMoved = true;
        for (const event of events)
          if (event.stream === stream && event.number <= reached) ahead.delete(keyOf(event));
      }
    },

    /** Returns the progress since the last call, for the caller to save. */
    takeUnsaved: (): SubscriptionProgress => {
      const progress: SubscriptionProgress = {
        ...claim,
        epoch,
        changeCursor: cursors.change,
        occurrenceCursor: cursors.occurrence,
        holds: [...changed].flatMap(id => holds.get(id) ?? []),
        released: [...released],
        attempts,
        pauseReason,
      };
      attempts = [];
      changed.clear();
      released.clear();
      isMoved = false;
      return progress;
    },
  };
}

/** Formats the reason why a subscription is paused, such as "the subscriber answered 410 (gone)". */
function formatPauseReason(type: string, { status, error }: AttemptOutcome, failingSince: string): string {
  if (status === GONE) return 'the subscriber answered 410 (gone)';
  const answer = status === null ? `no answer (${error})` : `HTTP status ${status}`;
  return `no event was delivered since ${failingSince}: ${type} got ${answer}`;
}
