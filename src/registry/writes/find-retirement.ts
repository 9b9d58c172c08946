import { isSameAmount } from '../json/amount.js';
import type { HttpClient } from '../http/http-types.js';
import type { Reservation, Retirement } from '../object-models.js';
import { RegistryError } from '../errors.js';
import type { ReadOptions } from '../read-types.js';
import { areKnownToDiffer } from './lost-write-match.js';
import type { RetirementData } from './request-bodies.js';

/** What is known of a retirement. Everything that is given must fit. */
export interface RetirementQuery {
  /** The reservation that was finished by a retirement. */
  readonly reservation?: Pick<Reservation, 'serialization' | 'amount' | 'createdAt'> | undefined;
  /** What the retirement was requested with. A `comment` that no other retirement has ends the search soonest. */
  readonly retirementData?: RetirementData | undefined;
}

/** The wait before each search. A transaction may be queued before it is processed. */
const SEARCH_DELAYS_MS = [0, 1_000, 4_000];

/** Finds the retirement that matches a query, in up to three searches within 5 seconds. Throws if none or several match. */
export async function findRetirement(
  http: HttpClient,
  listRetirements: (options: ReadOptions) => AsyncIterable<Retirement>,
  query: RetirementQuery,
  options: ReadOptions = {},
): Promise<Retirement> {
  for (const delayMs of SEARCH_DELAYS_MS) {
    if (delayMs > 0) await http.sleep(delayMs, options.signal);
    const matches = await collectMatches(listRetirements(options), query);
    const [match, ...others] = matches;
    if (others.length > 0) throw createAmbiguityError(matches);
    if (match !== undefined) return match;
  }
  throw new RegistryError('not_found', 'findRetirement: the registry does not show the retirement yet');
}

/** Returns the retirements that match a query. If the query has a comment, stops at the first match. */
async function collectMatches(
  retirements: AsyncIterable<Retirement>,
  query: RetirementQuery,
): Promise<readonly Retirement[]> {
  const matches: Retirement[] = [];
  for await (const retirement of retirements) {
    if (!isMatch(retirement, query)) continue;
    matches.push(retirement);
    if (query.retirementData?.comment !== undefined) break;
  }
  return matches;
}

/**
 * Whether a retirement matches the reservation, reason, beneficiary and comment in a query. Ignores what the query does not give.
 */
function isMatch(retirement: Retirement, { reservation, retirementData = {} }: RetirementQuery): boolean {
  const { reason, beneficiaryName, comment } = retirementData;
  if (comment !== undefined && retirement.comment !== comment) return false;
  if (areKnownToDiffer(retirement.beneficiary, beneficiaryName)) return false;
  if (areKnownToDiffer(retirement.reason, reason)) return false;
  return reservation === undefined || mayResultFromReservation(retirement, reservation);
}

/**
 * Whether a retirement can result from a reservation: its serialization is the same or unknown, its amount is the same, and it was
 * not created before the reservation.
 */
function mayResultFromReservation(
  { serialization, amount, createdAt }: Retirement,
  reservation: NonNullable<RetirementQuery['reservation']>,
): boolean {
  if (areKnownToDiffer(serialization?.toLowerCase(), reservation.serialization?.toLowerCase())) return false;
  if (amount.exact === null || reservation.amount.exact === null) return false;
  if (!isSameAmount(amount.exact, reservation.amount.exact)) return false;
  if (createdAt === null || reservation.createdAt === null) return true;
  return Date.parse(createdAt) >= Date.parse(reservation.createdAt);
}

/** Creates the `outcome_unknown` error for several retirements that match the query. */
function createAmbiguityError(candidates: readonly Retirement[]): RegistryError {
  const message = `findRetirement: ${candidates.length} retirements fit. Retire with a comment that only one has`;
  return new RegistryError('outcome_unknown', message, { candidates });
}
