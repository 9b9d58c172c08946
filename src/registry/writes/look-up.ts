import { amountText, normalAmount, sameAmount } from '../json/amount.js';
import { isObject, type Action, type InventoryRequest, type Reservation } from '../model.js';
import { readSource } from '../json/fields.js';
import type { LookedUp, Since } from './once.js';
import type { Page } from '../reading.js';
import type { InventoryActionRequest, ReserveRequest } from './requests.js';

/** Whether an item is what a lost write made, as far as can be told. */
export type Judge<T> = (item: T, writer: Writer) => 'yes' | 'maybe' | 'no';

/** Who wrote, and what it knows of its own writes. */
interface Writer {
  /** Null where the token does not say whose it is: then nothing that names an app is certainly ours. */
  readonly appId: string | null;
  readonly since: Since;
}

/** What a lost reserve may have made: of this credit and amount, and not clearly older or another app's. */
export function judgeReservation(wanted: ReserveRequest): Judge<Reservation> {
  return (reservation, { appId, since }) => {
    if (!isOf(reservation, wanted, since) || differs(reservation.reserverId, appId)) return 'no';
    const isOurs = appId !== null && reservation.reserverId === appId;
    return isOurs && reservation.createdAt !== null ? 'yes' : 'maybe';
  };
}

/** A request shows the app that made it in no answer we know of; where it does, it must be ours. */
export function judgeRequest(action: Action, wanted: InventoryActionRequest): Judge<InventoryRequest> {
  return (request, { appId, since }) => {
    if (!isOf(request, wanted, since)) return 'no';
    if (differs(request.action?.toLowerCase(), action)) return 'no';
    if (differs(request.toOrganizationId, wanted.toOrganizationId)) return 'no';
    if (differs(request.toAddress?.toLowerCase(), wanted.toAddress?.toLowerCase())) return 'no';
    if (differs(shownApp(request), appId)) return 'no';
    return request.createdAt === null || request.action === null ? 'maybe' : 'yes';
  };
}

/** In a list that was not read to its end there may be a second one: then nothing is certain. */
export async function collect<T extends { readonly id: string }>(
  pages: AsyncIterable<Page<T>>,
  judge: (item: T) => 'yes' | 'maybe' | 'no',
): Promise<LookedUp<T>> {
  const candidates = new Map<string, T>();
  const certain: T[] = [];
  let whole = false;
  for await (const { items, end } of pages) {
    for (const item of items) {
      const fits = judge(item);
      if (fits === 'no') continue;
      candidates.set(item.id, item);
      if (fits === 'yes') certain.push(item);
    }
    whole = end === 'complete';
  }
  return { candidates: [...candidates.values()], certain: whole ? certain : [] };
}

/** Two writes of one credit and amount cannot be told apart by what they leave behind. */
export function twinOf({ creditId, amount }: ReserveRequest): string {
  return `${creditId} ${normalAmount(amountText(amount))}`;
}

type Movement = Pick<Reservation, 'creditId' | 'amount' | 'createdAt'>;

/** Of this credit and amount, and not clearly older. */
function isOf({ creditId, amount, createdAt }: Movement, wanted: ReserveRequest, since: Since): boolean {
  const { exact } = amount;
  const isSame =
    creditId === wanted.creditId && exact !== null && sameAmount(exact, amountText(wanted.amount));
  return isSame && (createdAt === null || since(createdAt));
}

/** Two known values that are not the same; what is not said contradicts nothing. */
function differs(shown: string | null | undefined, wanted: string | null | undefined): boolean {
  return typeof shown === 'string' && typeof wanted === 'string' && shown !== wanted;
}

function shownApp({ document }: InventoryRequest): string | null {
  const { members } = readSource(document, 'request');
  const app = members['app'];
  const shown = members['appId'] ?? (isObject(app) ? app['id'] : null);
  return typeof shown === 'string' ? shown : null;
}
