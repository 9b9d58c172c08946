import { formatAmount, isSameAmount, normalizeAmount } from '../json/amount.js';
import type { CreditAction, InventoryRequest, Reservation } from '../object-models.js';
import { isObject } from '../../text/checks.js';
import { parseObject } from '../json/json-object.js';
import type { CreatedSinceCheck, LookUpResult } from './write-once.js';
import type { ObservedPage } from '../pages/paged-lists.js';
import type { InventoryActionRequest, ReserveRequest } from './request-bodies.js';

/** Whether an object is the result of a write whose response was lost. */
export type WriteMatch = 'certain' | 'possible' | 'none';

/** Decides from an object's fields whether it is the result of a write whose response was lost. */
export type WriteMatcher<T> = (object: T, context: WriteContext) => WriteMatch;

/** Who wrote, and when. */
interface WriteContext {
  /** The app that wrote. If it is null (unknown), no object that names an app is a certain match. */
  readonly appId: string | null;
  readonly isCreatedSinceWrite: CreatedSinceCheck;
}

/** Creates a function that decides whether a reservation was created by `request`, whose response was lost. */
export function createReservationMatcher(request: ReserveRequest): WriteMatcher<Reservation> {
  return (reservation, { appId, isCreatedSinceWrite }) => {
    if (!isPossibleResult(reservation, request, isCreatedSinceWrite)) return 'none';
    if (areKnownToDiffer(reservation.reserverId, appId)) return 'none';
    const isOurs = appId !== null && reservation.reserverId === appId;
    return isOurs && reservation.createdAt !== null ? 'certain' : 'possible';
  };
}

/** Creates a function that decides whether an inventory request was created by `request`, whose response was lost. */
export function createInventoryRequestMatcher(
  action: CreditAction,
  request: InventoryActionRequest,
): WriteMatcher<InventoryRequest> {
  return (found, { appId, isCreatedSinceWrite }) => {
    if (!isPossibleResult(found, request, isCreatedSinceWrite)) return 'none';
    if (areKnownToDiffer(found.action?.toLowerCase(), action)) return 'none';
    if (areKnownToDiffer(found.toOrganizationId, request.toOrganizationId)) return 'none';
    if (areKnownToDiffer(found.toAddress?.toLowerCase(), request.toAddress?.toLowerCase())) return 'none';
    if (areKnownToDiffer(findAppId(found), appId)) return 'none';
    return found.createdAt === null || found.action === null ? 'possible' : 'certain';
  };
}

/**
 * Searches the pages of a list for objects that a lost write may have created. Returns all candidates and the certain ones; none
 * is certain unless the list was read to its end.
 */
export async function findMatches<T extends { readonly id: string }>(
  pages: AsyncIterable<Pick<ObservedPage<T>, 'items' | 'end'>>,
  match: (object: T) => WriteMatch,
): Promise<LookUpResult<T>> {
  const candidates = new Map<string, T>();
  const certain: T[] = [];
  let isComplete = false;
  for await (const { items, end } of pages) {
    for (const item of items) {
      const result = match(item);
      if (result === 'none') continue;
      candidates.set(item.id, item);
      if (result === 'certain') certain.push(item);
    }
    isComplete = end === 'complete';
  }
  // An unread page may hold another match, so no match is certain before the end of the list.
  return { candidates: [...candidates.values()], certain: isComplete ? certain : [] };
}

/** Returns a key for the credit and amount of a write. Two writes with the same key must not run at the same time. */
export function getDuplicateKey({ creditId, amount }: ReserveRequest): string {
  return `${creditId} ${normalizeAmount(formatAmount(amount))}`;
}

/** The fields of an object by which a lost write is recognized. */
type WriteResultFields = Pick<Reservation, 'creditId' | 'amount' | 'createdAt'>;

/** Whether a write may have created an object: same credit, same amount, and not older than the write. */
function isPossibleResult(
  { creditId, amount, createdAt }: WriteResultFields,
  request: ReserveRequest,
  isCreatedSinceWrite: CreatedSinceCheck,
): boolean {
  if (creditId !== request.creditId || amount.exact === null) return false;
  if (!isSameAmount(amount.exact, formatAmount(request.amount))) return false;
  return createdAt === null || isCreatedSinceWrite(createdAt);
}

/** Whether both values are known and different. */
export function areKnownToDiffer(
  actual: string | null | undefined,
  expected: string | null | undefined,
): boolean {
  return typeof actual === 'string' && typeof expected === 'string' && actual !== expected;
}

/** Returns the id of the app that created an inventory request, or null if its JSON contains none. */
function findAppId({ document }: InventoryRequest): string | null {
  // The field is not documented, so it is read from the document.
  const { members } = parseObject(document, 'request');
  const app = members['app'];
  const appId = members['appId'] ?? (isObject(app) ? app['id'] : null);
  return typeof appId === 'string' ? appId : null;
}
