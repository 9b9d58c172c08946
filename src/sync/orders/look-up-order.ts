/**
 * Looks up the result of an order that was interrupted, because the process of the worker ended between the request and the
 * response. Nothing is sent again. An order to reserve is recognized in the list of reservations by its credit, its amount, our app
 * and the time of the request; all other orders by the state of their reservation.
 */
import type { Order, OrderEnd } from '../../inbox/order.js';
import type { OrganizationClient } from '../../registry/client-types.js';
import { RegistryError } from '../../registry/errors.js';
import type { Reservation } from '../../registry/object-models.js';
import { observePages } from '../../registry/pages/paged-lists.js';
import { getReservationState } from '../../registry/reservation-state.js';
import { createReservationMatcher, findMatches } from '../../registry/writes/lost-write-match.js';
import type { SyncContext } from '../sync-context.js';
import { describeLostAnswer } from './failed-order.js';
import { toReservedOrderEnd, ENDED } from './send-order.js';

/** The wait before each look-up. The lost call may still be on its way. */
const LOOK_UP_DELAYS_MS = [0, 1_000, 4_000];

/** The outcome of one look-up: the result of the order, or objects that the order may have created. */
type OrderLookUpResult = { readonly end: OrderEnd } | { readonly candidates: readonly unknown[] };

/**
 * Looks up the result of an order up to three times, with pauses. If `organization` is null, the app has no access and the
 * result is unknown.
 */
export async function lookUpOrder(
  context: SyncContext,
  organization: OrganizationClient | null,
  order: Order,
): Promise<OrderEnd> {
  let candidates: readonly unknown[] = [];
  for (const delayMs of organization === null ? [] : LOOK_UP_DELAYS_MS) {
    if (delayMs > 0) await context.client.http.sleep(delayMs);
    const finding = await tryLookUpOrder(context, organization, order);
    if ('end' in finding) return finding.end;
    ({ candidates } = finding);
  }
  return { state: 'unknown', result: describeLostAnswer(candidates) };
}

/** Looks up the result of an order once. Returns no candidates if `organization` is null or a call to the registry fails. */
async function tryLookUpOrder(
  context: SyncContext,
  organization: OrganizationClient | null,
  order: Order,
): Promise<OrderLookUpResult> {
  if (organization === null) return NOTHING;
  try {
    return order.action === 'reserve'
      ? await findOrderedReservation(context, organization, order)
      : await readReservationEnd(context, organization, order);
  } catch (error) {
    if (error instanceof RegistryError) return NOTHING;
    throw error;
  }
}

const NOTHING: OrderLookUpResult = { candidates: [] };

/**
 * Searches the reservations for the one that an order created. Skips reservations that other orders created. Returns the result of
 * the order if only one reservation is possible and it is certainly the right one. Otherwise returns all candidates.
 */
async function findOrderedReservation(
  { inbox, appId }: SyncContext,
  organization: OrganizationClient,
  order: Order,
): Promise<OrderLookUpResult> {
  const match = createReservationMatcher({ creditId: order.creditId, amount: order.amount });
  const isCreatedSinceWrite = createSinceCheck(order);
  const ofOthers = await inbox.listOrderedReservations(order);
  const isNotOfOther = ({ id }: Reservation) => !ofOthers.includes(id);
  const found = await findMatches(observePages(organization.listReservations()), reservation =>
    match(reservation, { appId, isCreatedSinceWrite }),
  );
  const candidates = found.candidates.filter(isNotOfOther);
  const [certain] = found.certain.filter(isNotOfOther);
  const isOnly = certain !== undefined && candidates.length === 1;
  return isOnly ? { end: toReservedOrderEnd(certain) } : { candidates };
}

/**
 * Creates a function that returns whether an instant is known and not earlier than the time when the order was sent, rounded down
 * to a full second.
 */
function createSinceCheck({ sentAt }: Order): (instant: string | null) => boolean {
  // The registry may round its times down to the second.
  const earliestMs = sentAt === null ? Infinity : Math.floor(Date.parse(sentAt) / 1000) * 1000;
  return instant => instant !== null && Date.parse(instant) >= earliestMs;
}

/** The state of a reservation after each action of order. */
const EXPECTED_STATES = { retire: 'finished', transfer: 'finished', release: 'cancelled' } as const;
const NOT_DONE = 'The reservation ended in another way. Nothing was sent again.';

/** Reads the reservation of an order to see whether it has ended as ordered: retired, transferred or released. */
async function readReservationEnd(
  { client }: SyncContext,
  organization: OrganizationClient,
  { action, reservationId }: Order,
): Promise<OrderLookUpResult> {
  if (action === 'reserve' || reservationId === null) return NOTHING;
  const reservation = await organization.readReservation(reservationId);
  const now = client.http.localNow() + (client.http.clockSkewMs() ?? 0);
  const state = getReservationState(reservation, now);
  if (state === 'outstanding' || state === null) return { candidates: [reservation] };
  const isDone = state === EXPECTED_STATES[action] || (action === 'release' && state === 'expired');
  return { end: isDone ? { state: 'done', result: ENDED[action] } : { state: 'refused', result: NOT_DONE } };
}
