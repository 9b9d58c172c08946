import { SELECTABLE_TYPES } from '../../events/catalogue/catalogue.js';
import type { Hold, Subscription } from '../../events/port.js';
import { isUnreachable } from '../../events/send/subscriber-state.js';
import type { Row } from '../output/output-formats.js';

export const SUBSCRIPTION_COLUMNS = [
  'id',
  'url',
  'events',
  'state',
  'waiting_changes',
  'held_organizations',
  'delivered',
  'refused',
  'delivered_at',
  'problem',
];

/** Converts a subscription to an output row without its secret. `newestChange` is the mirror's newest change number. */
export function toSubscriptionRow(
  subscription: Subscription,
  holds: readonly Hold[],
  newestChange: number,
): Row {
  const own = holds.filter(({ subscription_id: id }) => id === subscription.id);
  return {
    id: subscription.id,
    url: subscription.url,
    events: formatEventTypes(subscription.events),
    state: subscription.state,
    waiting_changes: Math.max(0, newestChange - subscription.change_cursor),
    held_organizations: own.length,
    delivered: subscription.delivered,
    refused: subscription.refused,
    delivered_at: subscription.delivered_at,
    problem: describeProblem(subscription, own),
  };
}

/** Formats a JSON array of event types as `all` or as a list with commas. */
function formatEventTypes(json: string): string {
  const types: readonly string[] = JSON.parse(json);
  return types.length === SELECTABLE_TYPES.length ? 'all' : types.join(', ');
}

/**
 * Describes why events of a subscription wait: the subscription is paused, or its subscriber did not accept an event. `holds` lists the
 * organizations whose events wait behind an event that was not accepted. Returns null if no events wait for these reasons.
 */
export function describeProblem(subscription: Subscription, holds: readonly Hold[]): string | null {
  if (subscription.pause_reason !== null) return `paused: ${subscription.pause_reason}`;
  const [first] = holds;
  if (first === undefined) return null;
  const answer = first.status === null ? `no answer (${first.error})` : `HTTP status ${first.status}`;
  const attempt = `${first.refused_type} got ${answer} at ${first.failed_at}`;
  if (isUnreachable({ holds, deliveredAt: subscription.delivered_at }))
    return `the subscriber cannot be reached: ${attempt}`;
  const paused = holds.filter(({ state }) => state === 'paused').length;
  const counted = paused === 0 ? `${holds.length} held` : `${holds.length} held, ${paused} of them paused`;
  return `organizations: ${counted}; ${attempt}`;
}
