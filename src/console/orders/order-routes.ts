import type { Express, Request, Response } from 'express';
import { isSameOrder, type NewOrder, type Order } from '../../inbox/order.js';
import { readOrderByKey } from '../../query/order-targets.js';
import { type CreateConsoleActions, requireActingRole } from '../actions/action-routes.js';
import { getVisitor } from '../guard/visitor.js';
import type { ReaderPool } from '../reader-pool.js';
import { parseForm, type Responder } from '../responder.js';
import { KEY_FIELD } from './confirmation-page.js';
import { checkOrder, UUID } from './order-form.js';

/** The answer to a posted order: the stored order, or why there is none. */
type Placement = { readonly order: Order } | { readonly status: number; readonly fault: string };

const KEY_IN_USE = 'This form was already used for another order. Go back, reload the page and try again.';
const NO_KEY = 'This form is incomplete. Go back, reload the page and try again.';

/** Adds the route that stores orders for the worker. The route itself never calls the registry. */
export function addOrderRoutes(
  app: Express,
  readers: ReaderPool,
  createActions: CreateConsoleActions,
  responder: Responder,
): void {
  app.post('/orders', requireActingRole(responder), async (request: Request, response: Response) => {
    const { name } = getVisitor(response);
    const form = parseForm(request);
    const placement = await placeOrder(form, name, readers, createActions(name).placeOrder);
    if ('order' in placement) return response.redirect(303, `/orders/${placement.order.id}`);
    return await responder.sendMessage(request, response, placement.status, placement.fault);
  });
}

/**
 * Checks and stores the order that a form describes. If the same form was posted before, returns the order that was stored
 * then.
 */
async function placeOrder(
  form: URLSearchParams,
  actor: string | null,
  readers: ReaderPool,
  store: (order: NewOrder) => Promise<Order>,
): Promise<Placement> {
  const key = (form.get(KEY_FIELD) ?? '').toLowerCase();
  if (!UUID.test(key)) return { status: 400, fault: NO_KEY };
  return await readers.withReader(async reader => {
    const known = await readOrderByKey(reader, key);
    if (known !== null) return toPlacement(known, { ...known, ...readPostedFields(form), actor });
    const checked = await checkOrder(reader, form);
    if ('fault' in checked) return { status: 400, fault: checked.fault };
    const order = { ...checked.draft, key, actor };
    return toPlacement(await store(order), order);
  });
}

/** Refuses a form whose key belongs to another order. */
function toPlacement(stored: Order, posted: NewOrder): Placement {
  return isSameOrder(stored, posted) ? { order: stored } : { status: 409, fault: KEY_IN_USE };
}

/** Returns the order fields of a posted confirmation form without checking them. */
function readPostedFields(form: URLSearchParams): object {
  return {
    action: form.get('action'),
    organizationId: form.get('organization_id'),
    creditId: form.get('credit_id'),
    amount: form.get('amount'),
    ...(form.get('action') !== 'reserve' && { reservationId: form.get('reservation_id') }),
    receiverId: form.get('receiver'),
    beneficiary: form.get('beneficiary'),
    reason: form.get('reason'),
    comment: form.get('comment'),
  };
}
