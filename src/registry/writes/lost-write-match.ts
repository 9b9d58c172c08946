import { formatAmount, isSameAmount, normalizeAmount } from '../json/amount.js';
import { isObject, type CreditAction, type InventoryRequest, type Reservation } from '../model.js';
import { parseObject } from '../json/json-object.js';
import type { CreatedSinceCheck, LookUpResult } from './write-once.js';
import type { ListPage } from '../read-types.js';
import type { InventoryActionRequest, ReserveRequest } from './requests.js';

/** Whether an object is the result of a lost write. */
export type WriteMatch = 'certain' | 'possible' | 'none';

/** Decides whether an object is the result of a lost write, as far as its fields tell. */
export type WriteMatcher<T> = (object: T, context: WriteContext) => WriteMatch;

interface WriteContext {
  /** The app that wrote. Null if it is unknown: then no object that names an app is certainly ours. */
  readonly appId: string | null;
  readonly isCreatedSinceWrite: CreatedSinceCheck;
}

/** Creates a matcher for a lost reserve: same credit and amount, not older than the write, not of another app. */
export function matchReservation(request: ReserveRequest): WriteMatcher<Reservation> {
  return (reservation, { appId, isCreatedSinceWrite }) => {
    if (!isSameMovement(reservation, request, isCreatedSinceWrite)) return 'none';
    if (areKnownToDiffer(reservation.reserverId, appId)) return 'none';
    const isOurs = appId !== null && reservation.reserverId === appId;
    return isOurs && reservation.createdAt !== null ? 'certain' : 'possible';
  };
}

/** Creates a matcher for a lost inventory request. No known answer names the app, but where one does it must be ours. */
export function matchInventoryRequest(
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

/** Collects the matching objects of a list. If it was not read to its end, another match may exist, so none is certain. */
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

/** Returns the same key for writes of one credit and amount: their results cannot be told apart. */
export function createDuplicateKey({ creditId, amount }: ReserveRequest): string {
  return `${creditId} ${normalizeAmount(formatAmount(amount))}`;
}

type CreditMovement = Pick<Reservation, 'creditId' | 'amount' | 'createdAt'>;

/** Whether an object has the credit and amount of the request and is not known to be older. */
function isSameMovement(
  { creditId, amount, createdAt }: CreditMovement,
  request: ReserveRequest,
  isCreatedSinceWrite: CreatedSinceCheck,
): boolean {
  if (creditId !== request.creditId || amount.exact === null) return false;
  if (!isSameAmount(amount.exact, formatAmount(request.amount))) return false;
  return createdAt === null || isCreatedSinceWrite(createdAt);
}

/** Whether two values are both known and different. */
function areKnownToDiffer(actual: string | null | undefined, expected: string | null | undefined): boolean {
  return typeof actual === 'string' && typeof expected === 'string' && actual !== expected;
}

/** Returns the app that made a request, from the document: it is no documented field. Null if there is none. */
function findAppId({ document }: InventoryRequest): string | null {
  const { members } = parseObject(document, 'request');
  const app = members['app'];
  const appId = members['appId'] ?? (isObject(app) ? app['id'] : null);
  return typeof appId === 'string' ? appId : null;
}
