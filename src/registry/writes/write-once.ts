/**
 * Writes to the registry. A write is sent exactly once, because a repeated one could reserve or retire twice. If its
 * response is lost, the result is looked up: `lost-write-match.ts` recognizes it, and `write-log.ts` keeps it apart from
 * other writes of this process. A write whose result stays unclear must never be reported as not done.
 */
import type { HttpClient, HttpRequest, HttpResponse } from '../http/http-types.js';
import { RegistryError } from '../errors.js';
import { pickRequestOptions, type ReadOptions } from '../read-types.js';

/** A write, and how to look its result up if the response is lost. */
export interface WriteRequest<T> {
  readonly request: HttpRequest;
  /** Parses the response to an accepted write. If this fails, the result of the write is looked up. */
  readonly parseResponse: (response: HttpResponse) => T | Promise<T>;
  /** Finds the possible results of the write. Absent if the results of such writes cannot be recognized. */
  readonly lookUp?: (isCreatedSinceWrite: CreatedSinceCheck) => Promise<LookUpResult<T>>;
  /** Equal for writes whose results cannot be told apart, which are therefore sent one after another. Default: the body. */
  readonly duplicateKey?: string;
  /** Returns the id of the created object. A look-up then ignores objects that our other writes created. */
  readonly getCreatedId?: (result: T) => string;
}

/** What a look-up found. */
export interface LookUpResult<T> {
  /** Everything that the write may have created or changed. */
  readonly candidates: readonly T[];
  /** The candidates that are certainly the result of the write. */
  readonly certain: readonly T[];
}

/** Whether an instant of the registry's clock is at or after the time when the write was sent. An unknown instant is not. */
export type CreatedSinceCheck = (instant: string | null) => boolean;

/** The wait before each look-up. There are three, because the lost write may still be on its way. */
const LOOK_UP_DELAYS_MS = [0, 1_000, 4_000];

/**
 * Sends a write exactly once, after earlier equal writes have ended. If the response is lost, searches for the result. Throws
 * `outcome_unknown` if the search does not find it with certainty.
 */
export function writeOnce<T>(http: HttpClient, options: ReadOptions, write: WriteRequest<T>): Promise<T> {
  const request = { ...write.request, ...pickRequestOptions(options) };
  const observedWrite = { ...write, request };
  const { method, route, params, body } = request;
  const key = JSON.stringify([method, route, params, write.duplicateKey ?? body]);
  return http.writeLog.runExclusively(key, async () => {
    const sentAtMs = http.localNow();
    const outcome = await sendWrite(http, observedWrite);
    const result =
      'result' in outcome
        ? outcome.result
        : await findLostResult(http, observedWrite, sentAtMs, outcome.lostAnswerError);
    if (write.getCreatedId !== undefined) http.writeLog.recordCreated(write.getCreatedId(result));
    return result;
  });
}

/** The result of a write, or the error that lost its response. */
type WriteOutcome<T> = { readonly result: T } | { readonly lostAnswerError: RegistryError };

/** Sends a write. Returns its result, or an error if the response was lost. Throws if the write surely failed. */
async function sendWrite<T>(http: HttpClient, write: WriteRequest<T>): Promise<WriteOutcome<T>> {
  let isAccepted = false;
  try {
    const response = await http.send({ ...write.request, repeatable: false });
    isAccepted = true;
    return { result: await write.parseResponse(response) };
  } catch (error) {
    const isLost = error instanceof RegistryError && (isAccepted || error.mayHaveHappened);
    if (isLost) return { lostAnswerError: error };
    throw error;
  }
}

/** Finds the result of a write whose response was lost. Throws `outcome_unknown` if no result is certain. */
async function findLostResult<T>(
  http: HttpClient,
  write: WriteRequest<T>,
  sentAtMs: number,
  lossError: RegistryError,
): Promise<T> {
  const { lookUp, request } = write;
  if (lookUp === undefined) throw createUnknownOutcomeError(write, [], lossError);
  let candidates: readonly T[] = [];
  for (const delayMs of LOOK_UP_DELAYS_MS) {
    try {
      if (delayMs > 0) await http.sleep(delayMs, request.signal);
      const found = await lookUp(instant => isSinceWrite(instant, sentAtMs, http));
      candidates = excludeOtherWrites(found.candidates, http, write);
      const [certain] = excludeOtherWrites(found.certain, http, write);
      if (certain !== undefined && candidates.length === 1) return certain;
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
    }
    if (candidates.length > 1 || request.signal?.aborted === true) break;
  }
  throw createUnknownOutcomeError(write, candidates, lossError);
}

/** Creates the `outcome_unknown` error, which lists the possible results of the write. */
function createUnknownOutcomeError<T>(
  { request }: WriteRequest<T>,
  candidates: readonly T[],
  cause: RegistryError,
): RegistryError {
  const call = `${request.method} ${request.route}`;
  const message = `${call}: the answer was lost, and ${candidates.length} possible results were found`;
  return new RegistryError('outcome_unknown', message, { call, candidates, cause, mayHaveHappened: true });
}

/** Filters out objects that other writes of this process created. They are not results of the lost write. */
function excludeOtherWrites<T>(
  candidates: readonly T[],
  http: HttpClient,
  { getCreatedId }: WriteRequest<T>,
): readonly T[] {
  if (getCreatedId === undefined) return candidates;
  return candidates.filter(result => !http.writeLog.isCreatedHere(getCreatedId(result)));
}

/**
 * Whether an instant of the registry's clock is not earlier than the time when a write was sent, rounded down to a full second.
 * Returns false if the instant is unknown (null).
 */
function isSinceWrite(instant: string | null, sentAtMs: number, http: HttpClient): boolean {
  // The Date header and the registry's times may be rounded down to the second.
  if (instant === null) return false;
  const earliestMs = Math.floor((sentAtMs + (http.clockSkewMs() ?? 0)) / 1000) * 1000;
  return Date.parse(instant) >= earliestMs;
}
