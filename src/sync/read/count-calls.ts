import type { CallRecord } from '../../registry/http/calls.js';

/** Counts what one read costs. */
export function countCalls(signal: AbortSignal, now: () => number) {
  let requests = 0;
  let bytes = 0;
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
    /** Of the latest answer; null where none came. */
    status: () => status,
    /** Whether each answer said whose it is. */
    ownerNamed: () => owners.length > 0 && !owners.includes(null),
  };
}
