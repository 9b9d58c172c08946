/** The form of an order: its fields, and what must be true in the mirror before the order may be placed. */
import { type NewOrder, ORDER_ACTIONS, type OrderAction } from '../../inbox/order.js';
import { findOrganization } from '../../query/names.js';
import {
  readAppId,
  hasActiveInstallation,
  readReservation,
  readWarehouseCredit,
} from '../../query/order-targets.js';
import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { findAmountShortage, parseTypedAmount } from '../../text/tonnes.js';
import { isId, isPrintable } from '../../text/checks.js';
import { getAmountMicro, getText } from '../components/table-cell.js';
import { describeFilterFault } from '../filter-fault.js';
import type { PageFault } from '../page.js';

/** The names of the form fields. */
export const ORDER_FIELDS = [
  'action',
  'organization_id',
  'credit_id',
  'amount',
  'reservation_id',
  'receiver',
  'beneficiary',
  'reason',
  'comment',
] as const;

/** An order before it has a key and an actor. */
export type OrderDraft = Omit<NewOrder, 'key' | 'actor'>;

/** An order that may be placed, and the credit or the reservation that it is for. */
export interface CheckedOrder {
  readonly draft: OrderDraft;
  readonly target: Row;
}

/** Checks a posted order against the mirror. Returns an error message for the visitor (a fault) if the order cannot be placed. */
export async function checkOrder(reader: Reader, form: URLSearchParams): Promise<CheckedOrder | PageFault> {
  const action = ORDER_ACTIONS.find(each => each === form.get('action'));
  if (action === undefined) return { fault: `Expected an action: ${ORDER_ACTIONS.join(', ')}.` };
  const organizationId = form.get('organization_id') ?? '';
  if (!(await hasActiveInstallation(reader, organizationId)))
    return {
      fault:
        'The app is not installed on this organization, or its installation is suspended. Nothing was ordered.',
    };
  return action === 'reserve'
    ? await checkReservation(reader, organizationId, form)
    : await checkReservationAction(reader, action, organizationId, form);
}

/**
 * Checks an order to reserve an amount of a credit. Returns an error message for the visitor (a fault) if the order cannot be
 * placed.
 */
async function checkReservation(
  reader: Reader,
  organizationId: string,
  form: URLSearchParams,
): Promise<CheckedOrder | PageFault> {
  const creditId = form.get('credit_id') ?? '';
  const target = await readWarehouseCredit(reader, organizationId, creditId);
  if (target === null)
    return {
      fault: 'The warehouse of this organization does not list this credit. Choose one under Warehouse.',
    };
  const typed = parseTypedAmount(form.get('amount') ?? '');
  if ('fault' in typed) return typed;
  const shortage = findAmountShortage(typed.micro, getAmountMicro(target));
  if (shortage !== null) return { fault: shortage };
  return {
    target,
    draft: {
      ...NO_DETAILS,
      action: 'reserve',
      organizationId,
      creditId,
      amount: typed.amount,
      reservationId: null,
    },
  };
}

const NO_DETAILS = { receiverId: null, beneficiary: null, reason: null, comment: null };

/**
 * Checks an order to retire, transfer or release a reservation. Returns an error message for the visitor (a fault) if the order
 * cannot be placed.
 */
async function checkReservationAction(
  reader: Reader,
  action: Exclude<OrderAction, 'reserve'>,
  organizationId: string,
  form: URLSearchParams,
): Promise<CheckedOrder | PageFault> {
  const reservationId = form.get('reservation_id') ?? '';
  const target = await readReservation(reader, organizationId, reservationId);
  const creditId = target === null ? null : getText(target, 'credit_id');
  const amount = target === null ? null : getText(target, 'amount_exact');
  if (target === null || creditId === null || amount === null)
    return { fault: 'This organization has no such reservation, or the mirror has not read it yet.' };
  if (!(await mayEndReservation(reader, target)))
    return {
      fault: `This reservation is ${getText(target, 'state_now') ?? 'over'} or belongs to another app. Nothing was ordered.`,
    };
  const details = await parseOrderDetails(reader, action, form);
  if ('fault' in details) return details;
  return {
    target,
    draft: { ...NO_DETAILS, action, organizationId, creditId, amount, reservationId, ...details },
  };
}

/** Returns whether a reservation is outstanding and was made by the app of this mirror, so that the mirror may end it. */
export async function mayEndReservation(reader: Reader, reservation: Row): Promise<boolean> {
  return (
    reservation['state_now'] === 'outstanding' && reservation['reserver_id'] === (await readAppId(reader))
  );
}

/** The fields of an order that only a transfer or a retirement has. */
type OrderDetails = Partial<Pick<OrderDraft, 'receiverId' | 'beneficiary' | 'reason' | 'comment'>>;

/**
 * Parses the details of an order: the receiver of a transfer, or the beneficiary, reason and comment of a retirement. A
 * release has none.
 */
async function parseOrderDetails(
  reader: Reader,
  action: Exclude<OrderAction, 'reserve'>,
  form: URLSearchParams,
): Promise<OrderDetails | PageFault> {
  if (action === 'release') return {};
  if (action === 'transfer') return await parseReceiver(reader, (form.get('receiver') ?? '').trim());
  const [beneficiary = '', reason = '', comment = ''] = ['beneficiary', 'reason', 'comment'].map(name =>
    (form.get(name) ?? '').trim(),
  );
  if (!isPrintable(beneficiary)) return { fault: `Name the beneficiary of the retirement, ${LENGTH}.` };
  if (!isPrintable(reason)) return { fault: `Give the reason for the retirement, ${LENGTH}.` };
  if (comment !== '' && !isPrintable(comment)) return { fault: `Expected a comment of one line, ${LENGTH}.` };
  return { beneficiary, reason, comment: comment === '' ? null : comment };
}

const LENGTH = 'at most 256 characters long';

/**
 * Parses the receiver of a transfer, given by name or id, into the details of the order. Accepts an unknown id, because the mirror
 * does not know all organizations.
 */
async function parseReceiver(reader: Reader, text: string): Promise<OrderDetails | PageFault> {
  if (text === '') return { fault: 'Name the organization that receives the credits.' };
  const found = await findOrganization(reader, text);
  if ('id' in found) return { receiverId: found.id };
  const mayBeForeignId = found.isMissing && isId(text) && UUID.test(text);
  return mayBeForeignId ? { receiverId: text } : { fault: describeFilterFault(found) };
}

/** Ids of organizations are UUIDs. */
export const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
