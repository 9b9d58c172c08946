import { amountText, normalAmount, sameAmount } from '../json/amount.js';
import { isObject, readSource } from '../json/fields.js';
import type { Action, InventoryRequest, Reservation } from '../model.js';
import type { LookedUp, Made } from './once.js';
import type { Page } from '../reading.js';
import type { InventoryActionRequest, ReserveRequest } from './requests.js';

/** Who wrote, and what it knows of its own writes. */
interface Writer {
  /** Null where the token does not say whose it is: then nothing that names an app is certainly ours. */
  readonly appId: string | null;
  readonly made: Made;
}

/** What a lost reserve may have made: of this credit and amount, and not clearly older or another app's. */
export async function findReservations(
  pages: AsyncIterable<Page<Reservation>>,
  { creditId, amount }: ReserveRequest,
  { appId, made }: Writer,
): Promise<LookedUp<Reservation>> {
  return collect(pages, reservation => {
    if (reservation.creditId !== creditId || !isAmount(reservation.amount.exact, amountText(amount)))
      return 'no';
    if (differs(reservation.reserverId, appId)) return 'no';
    if (reservation.createdAt !== null && !made.since(reservation.createdAt)) return 'no';
    const isOurs = appId !== null && reservation.reserverId === appId;
    return isOurs && reservation.createdAt !== null ? 'yes' : 'maybe';
  });
}

/** A request shows the app that made it in no answer we know of; where it does, it must be ours. */
export async function findRequests(
  pages: AsyncIterable<Page<InventoryRequest>>,
  action: Action,
  wanted: InventoryActionRequest,
  { appId, made }: Writer,
): Promise<LookedUp<InventoryRequest>> {
  return collect(pages, request => {
    if (request.creditId !== wanted.creditId) return 'no';
    if (!isAmount(request.amount.exact, amountText(wanted.amount))) return 'no';
    if (request.action !== null && request.action.toLowerCase() !== action) return 'no';
    if (differs(request.toOrganizationId, wanted.toOrganizationId)) return 'no';
    if (differs(request.toAddress?.toLowerCase(), wanted.toAddress?.toLowerCase())) return 'no';
    if (differs(shownApp(request), appId)) return 'no';
    if (request.createdAt !== null && !made.since(request.createdAt)) return 'no';
    return request.createdAt === null || request.action === null ? 'maybe' : 'yes';
  });
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

function isAmount(exact: string | null, wanted: string): boolean {
  return exact !== null && sameAmount(exact, wanted);
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
