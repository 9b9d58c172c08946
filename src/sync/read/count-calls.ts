import type { Traffic } from '../../mirror/port.js';
import type { CallRecord } from '../../registry/http/calls.js';
import type { ReadOptions } from '../../registry/reading.js';

/** Counts what one read costs. */
export interface CallCounts {
  readonly options: Required<ReadOptions>;
  readonly traffic: () => Required<Pick<Traffic, 'requests' | 'bytes' | 'answeredAt'>>;
  /** Of the latest answer; null where none came. */
  readonly status: () => number | null;
  /** Whether each answer said whose it is. */
  readonly ownerTold: () => boolean;
}

export function countCalls(signal: AbortSignal, now: () => number): CallCounts {
  let requests = 0;
  let bytes = 0;
  let status: number | null = null;
  let answeredAt: number | null = null;
  const owners: (string | null)[] = [];
  const onCall = (call: CallRecord) => {
    requests += 1;
    bytes += call.bytes;
    status = call.status ?? status;
    if (call.status !== null) answeredAt = now();
  };
  return {
    options: { signal, onCall, onOwner: owner => void owners.push(owner) },
    traffic: () => ({ requests, bytes, answeredAt }),
    status: () => status,
    ownerTold: () => owners.length > 0 && !owners.includes(null),
  };
}
