import type { Answer, Call, Http } from '../http/calls.js';
import { RegistryError } from '../errors.js';
import { observed, type ReadOptions } from '../reading.js';

export interface Write<T> {
  readonly call: Call;
  /** Reads the answer of a write that was accepted. Where it cannot, the write is looked up. */
  readonly read: (answer: Answer) => T | Promise<T>;
  /** All that may be the write, and those of them that are it beyond doubt. Absent where it leaves no trace. */
  readonly lookUp?: (since: Since) => Promise<LookedUp<T>>;
  /** What a look-up goes by: writes that share it wait for each other. Default: the body. */
  readonly twin?: string;
  /** New things have ids that are never found twice. */
  readonly newId?: (result: T) => string;
}

export interface LookedUp<T> {
  readonly candidates: readonly T[];
  readonly certain: readonly T[];
}

/** Whether the registry's instant is no earlier than the call, by the registry's own clock. */
export type Since = (instant: string | null) => boolean;

/** A lost write may still be on its way: it is looked for at once, and twice more. */
const LOOK_UP_AFTER_MS = [0, 1_000, 4_000];

/**
 * Sends a write exactly once. If its answer is lost, it is looked for;
 * one find that fits is the answer, anything else is `outcome_unknown`.
 */
export function writeOnce<T>(http: Http, options: ReadOptions, wanted: Write<T>): Promise<T> {
  const write = { ...wanted, call: { ...wanted.call, ...observed(options) } };
  const { method, route, params, body } = write.call;
  const key = JSON.stringify([method, route, params, write.twin ?? body]);
  return http.ledger.alone(key, async () => {
    const calledMs = http.localNow();
    const outcome = await send(http, write);
    const result = 'result' in outcome ? outcome.result : await find(http, write, calledMs, outcome.lost);
    if (write.newId !== undefined) http.ledger.remember(write.newId(result));
    return result;
  });
}

async function send<T>(http: Http, write: Write<T>): Promise<{ result: T } | { lost: RegistryError }> {
  let accepted = false;
  try {
    const answer = await http.call({ ...write.call, repeatable: false });
    accepted = true;
    return { result: await write.read(answer) };
  } catch (error) {
    if (error instanceof RegistryError && (accepted || error.mayHaveHappened)) return { lost: error };
    throw error;
  }
}

async function find<T>(http: Http, write: Write<T>, calledMs: number, lost: RegistryError): Promise<T> {
  const { lookUp } = write;
  if (lookUp === undefined) throw unknownOutcome(write, [], lost);
  let candidates: readonly T[] = [];
  for (const waitMs of LOOK_UP_AFTER_MS) {
    try {
      if (waitMs > 0) await http.sleep(waitMs, write.call.signal);
      const found = await lookUp(instant => isSince(instant, calledMs, http));
      candidates = unknownYet(found.candidates, http, write);
      const [certain] = unknownYet(found.certain, http, write);
      if (certain !== undefined && candidates.length === 1) return certain;
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
    }
    if (candidates.length > 1 || write.call.signal?.aborted === true) break;
  }
  throw unknownOutcome(write, candidates, lost);
}

function unknownOutcome<T>(
  { call }: Write<T>,
  candidates: readonly T[],
  cause: RegistryError,
): RegistryError {
  const name = `${call.method} ${call.route}`;
  const message = `${name}: its answer was lost, and ${candidates.length} candidates were found`;
  return new RegistryError('outcome_unknown', message, {
    call: name,
    candidates,
    cause,
    mayHaveHappened: true,
  });
}

function unknownYet<T>(found: readonly T[], http: Http, { newId }: Write<T>): readonly T[] {
  return newId === undefined ? found : found.filter(one => !http.ledger.knows(newId(one)));
}

/** Both the Date header and an instant may be cut to the second, downwards. */
function isSince(instant: string | null, calledMs: number, http: Http): boolean {
  if (instant === null) return false;
  const earliestMs = Math.floor((calledMs + (http.clockSkewMs() ?? 0)) / 1000) * 1000;
  return Date.parse(instant) >= earliestMs;
}
