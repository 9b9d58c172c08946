import { formatAmount, isSameAmount, normalizeAmount } from '../json/amount.js';
import { isObject, type CreditAction, type InventoryRequest, type Reservation } from '../model.js';
import { parseObject } from '../json/json-object.js';
import type { CreatedSinceCheck, LookUpResult } from './write-once.js';
import type { ListPage } from '../read-types.js';
import type { InventoryActionRequest, ReserveRequest } from './requests.js';

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

/**
 * Creates a matcher for the reservation of a lost write: same credit and amount, not older than the write, and not of
 * another app.
 */
export function createReservationMatcher(request: ReserveRequest): WriteMatcher<Reservation> {
  return (reservation, { appId, isCreatedSinceWrite }) => {
    if (!isSameMovement(reservation, request, isCreatedSinceWrite)) return 'none';
    if (areKnownToDiffer(reservation.reserverId, appId)) return 'none';
    const isOurs = appId !== null && reservation.reserverId === appId;
    return isOurs && reservation.createdAt !== null ? 'certain' : 'possible';
  };
}

/**
 * Creates a matcher for the inventory request of a lost write. The registry is not known to send the app of a request;
 * if it does, the app must match.
 */
export function createInventoryRequestMatcher(
  action: CreditAction,
  request: InventoryActionRequest,
): WriteMatcher<InventoryRequest> {
  return (found, { appId, isCreatedSinceWrite }) => {
    if (!isSameMovement(found, request, isCreatedSinceWrite)) return 'none';
    if (areKnownToDiffer(found.action?.toLowerCase(), action)) return 'none';
    if (areKnownToDiffer(found.toOrganizationId, request.toOrganizationId)) return 'none';
    if (areKnownToDiffer(found.toAddress?.toLowerCase(), request.toAddress?.toLowerCase())) return 'none';
    if (areKnownToDiffer(findAppId(found), appId)) return 'none';
    return found.createdAt === null || found.action === null ? 'possible' : 'certain';
  };
}

/**
 * Collects the objects of a list that match. If the list was not read to its end, another match may exist, so no match
 * is certain.
 */
export async function findMatches<T extends { readonly id: string }>(
  pages: AsyncIterable<ListPage<T>>,
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
  return { candidates: [...candidates.values()], certain: isComplete ? certain : [] };
}

/** Returns a key that is equal for writes with the same credit and amount, because their results cannot be told apart. */
export function getDuplicateKey({ creditId, amount }: ReserveRequest): string {
  return `${creditId} ${normalizeAmount(formatAmount(amount))}`;
}

/** The fields of an object by which a lost write is recognized. */
type CreditMovement = Pick<Reservation, 'creditId' | 'amount' | 'createdAt'>;

/** Whether an object has the credit and amount of the request and is not known to be older than the write. */
function isSameMovement(
  { creditId, amount, createdAt }: CreditMovement,
  request: ReserveRequest,
  isCreatedSinceWrite: CreatedSinceCheck,
): boolean {
  if (creditId !== request.creditId || amount.exact === null) return false;
  if (!isSameAmount(amount.exact, formatAmount(request.amount))) return false;
  return createdAt === null || isCreatedSinceWrite(createdAt);
}

/** Whether both values are known and different. */
function areKnownToDiffer(actual: string | null | undefined, expected: string | null | undefined): boolean {
  return typeof actual === 'string' && typeof expected === 'string' && actual !== expected;
}

/** Returns the app that made a request; null if it is not sent. Reads the document, because the field is not documented. */
function findAppId({ document }: InventoryRequest): string | null {
  const { members } = parseObject(document, 'request');
  const app = members['app'];
  const appId = members['appId'] ?? (isObject(app) ? app['id'] : null);
  return typeof appId === 'string' ? appId : null;
}
