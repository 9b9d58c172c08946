import type { CallRecord } from '../registry/calls.js';
import type { ReadOptions } from '../registry/reading.js';

/** Counts what one read costs. */
export interface Observed {
  readonly options: Required<Pick<ReadOptions, 'signal' | 'onCall'>>;
  readonly traffic: () => { readonly requests: number; readonly bytes: number };
  /** Of the latest answer; null where none came. */
  readonly status: () => number | null;
}

export function observe(signal: AbortSignal): Observed {
  let requests = 0;
  let bytes = 0;
  let status: number | null = null;
  const onCall = (call: CallRecord) => {
    requests += 1;
    bytes += call.bytes;
    status = call.status ?? status;
  };
  return { options: { signal, onCall }, traffic: () => ({ requests, bytes }), status: () => status };
}
