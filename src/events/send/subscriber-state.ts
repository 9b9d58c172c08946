/** Decides from what is stored whether a subscription has something to send. */
import { type Epoch, EPOCH_HOLD, type Hold, type Subscription } from '../port.js';

/** The subscriber is considered unreachable if events of this many organizations failed and none was delivered since. */
const FAILING_ORGANIZATIONS = 3;

/** The holds of a subscription, and when an event was last delivered. */
interface SubscriberFacts {
  readonly holds: readonly Hold[];
  readonly deliveredAt: string | null;
}

/**
 * Whether the subscriber is unreachable: events of at least three organizations failed, and none was delivered since. Then no
 * other organization is tried.
 */
export function isUnreachable({ holds, deliveredAt }: SubscriberFacts): boolean {
  const failing = holds.filter(({ failed_at: failedAt }) => deliveredAt === null || failedAt >= deliveredAt);
  return failing.length >= FAILING_ORGANIZATIONS;
}

/**
 * Returns the held organizations whose next attempt is due, the oldest first. Returns only one if the subscriber is
 * unreachable.
 */
export function listDueHolds(facts: SubscriberFacts, now: string): readonly Hold[] {
  const due = facts.holds
    .filter(({ state, next_attempt_at: at }) => state === 'waiting' && at <= now)
    .toSorted((left, right) => (left.next_attempt_at < right.next_attempt_at ? -1 : 1));
  return isUnreachable(facts) ? due.slice(0, 1) : due;
}

/** The current epoch and the number of the newest change. */
interface NewestNumbers {
  readonly epoch: Epoch;
  readonly newestChange: number;
}

/**
 * Whether an active subscription has something to do: events that are due, a new epoch to announce, or cursors to move past
 * events that it does not select.
 */
export function hasWork(
  subscription: Subscription,
  holds: readonly Hold[],
  { epoch, newestChange }: NewestNumbers,
  now: string,
): boolean {
  if (subscription.state !== 'active') return false;
  const facts = { holds, deliveredAt: subscription.delivered_at };
  const isTold = subscription.epoch === epoch.epoch;
  // Nothing is sent before the subscriber was told of the epoch.
  if (!isTold) {
    const waiting = holds.find(({ organization_id: id }) => id === EPOCH_HOLD);
    return waiting === undefined || listDueHolds({ ...facts, holds: [waiting] }, now).length > 0;
  }
  if (listDueHolds(facts, now).length > 0) return true;
  if (isUnreachable(facts)) return false;
  return (
    newestChange !== subscription.change_cursor || epoch.newest_occurrence > subscription.occurrence_cursor
  );
}
