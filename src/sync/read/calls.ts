import type { Answer } from '../../mirror/port.js';
import { RegistryError } from '../../registry/errors.js';
import type { CallRecord } from '../../registry/http/http-types.js';

/** What one read costs, and how it was answered. */
export function countCalls(signal: AbortSignal, now: () => number) {
  let requests = 0;
  let bytes = 0;
  /** Of the latest answer; null where none came. */
  let status: number | null = null;
  let lastAnswerAt: number | null = null;
  const owners: (string | null)[] = [];
  const onCall = (call: CallRecord) => {
    requests += 1;
    bytes += call.bytes;
    status = call.status ?? status;
    if (call.status !== null) lastAnswerAt = now();
  };
  return {
    options: { signal, onCall, onOwner: (owner: string | null) => void owners.push(owner) },
    traffic: () => ({ requests, bytes, lastAnswerAt }),
    /** Whether each answer said whose it is. */
    ownerNamed: () => owners.length > 0 && !owners.includes(null),
    /** What came of a read whose answers were all good. */
    goodAnswer: (form: Answer['form']): Answer | null =>
      status === null ? null : { status, form, at: now(), text: null },
    /** What came of one that failed; null where it did not fail for its answer. */
    badAnswer: (error: unknown, mask: (text: string) => string): Answer | null => {
      if (!(error instanceof RegistryError)) return null;
      const at = now();
      if (status !== null && error.answer !== null)
        return { status, at, form: error.answer.form, text: mask(error.answer.text) };
      if (error.status !== null) return { status: error.status, form: 'none', at, text: null };
      if (status === null || error.code !== 'bad_answer') return null;
      return { status, form: 'unusable', at, text: null };
    },
  };
}

/** Does the work for each item, so many at once. What goes wrong is thrown after those beside it have ended. */
export async function inLanes<Item>(
  atOnce: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const lanes = Array.from({ length: Math.min(atOnce, items.length) }, async () => {
    for (const item of waiting) await work(item);
  });
  const results = await Promise.allSettled(lanes);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
