import type { Order, OrderEnd } from '../../inbox/order.js';
import type { OrganizationClient } from '../../registry/client-types.js';
import type { Reservation } from '../../registry/object-models.js';
import type { SyncContext } from '../sync-context.js';
import { toFailedOrderEnd, describeTooSmallCredit } from './failed-order.js';
import { RegistryError } from '../../registry/errors.js';

/** States of a transaction that failed after the registry had accepted the call. */
const FAILED_STATES = ['cancelled', 'failed'];
const TRANSACTION_FAILED = 'The transaction failed at the registry. The credits are back in the warehouse.';

/** Sends an order to the registry once, without retries, and returns how the order ended. */
export async function sendOrder(
  { inbox }: SyncContext,
  organization: OrganizationClient,
  order: Order,
): Promise<OrderEnd> {
  try {
    if (order.action !== 'reserve') return await endReservation(organization, order);
    const reservation = await organization.reserve({ creditId: order.creditId, amount: order.amount });
    const isOfOther = (await inbox.listOrderedReservations(order)).includes(reservation.id);
    return isOfOther ? FOUND_RESULT_OF_OTHER : toReservedOrderEnd(reservation);
  } catch (error) {
    const isTooLarge =
      order.action === 'reserve' && error instanceof RegistryError && error.code === 'conflict';
    const tooSmall = isTooLarge ? await describeTooSmallCredit(organization, order) : null;
    return tooSmall === null ? toFailedOrderEnd(error) : { state: 'refused', result: tooSmall };
  }
}

/** The answer was lost, and the look-up found only a reservation that is the result of another order. */
const FOUND_RESULT_OF_OTHER: OrderEnd = {
  state: 'unknown',
  result: 'The answer was lost, and no reservation was found. Look at the registry. Nothing was sent again.',
};

/**
 * Converts a reservation to the result (`OrderEnd`) of the order that created it: `done`, with a sentence such as "5 t are reserved
 * until …".
 */
export function toReservedOrderEnd({ id, amount, reservedToDate }: Reservation): OrderEnd {
  const until = reservedToDate === null ? '' : ` until ${reservedToDate}`;
  return { state: 'done', result: `${amount.exact ?? '?'} t are reserved${until}.`, reservationId: id };
}

/** The words of results for the end of a reservation. */
export const ENDED: Readonly<Record<'retire' | 'transfer' | 'release', string>> = {
  retire: 'The credits are retired. The retirement may still be pending at the registry.',
  transfer: 'The credits are transferred.',
  release: 'The credits are back in the warehouse.',
};

/** Retires, transfers or releases the reservation of an order. Throws if the order names no reservation. */
async function endReservation(organization: OrganizationClient, order: Order): Promise<OrderEnd> {
  const { action, reservationId, receiverId, beneficiary, reason, comment } = order;
  if (action === 'reserve' || reservationId === null)
    throw new RegistryError('bad_request', 'the order names no reservation');
  const done: OrderEnd = { state: 'done', result: ENDED[action] };
  if (action === 'release') {
    await organization.cancelReservation(reservationId);
    return done;
  }
  const retirementData = {
    beneficiaryName: beneficiary ?? undefined,
    reason: reason ?? undefined,
    comment: comment ?? undefined,
  };
  const finished = await organization.finishReservation(
    reservationId,
    action,
    action === 'retire' ? { retirementData } : { receiverId: receiverId ?? undefined },
  );
  const hasFailed = FAILED_STATES.includes(finished?.state?.toLowerCase() ?? '');
  return hasFailed ? { state: 'refused', result: TRANSACTION_FAILED } : done;
}
