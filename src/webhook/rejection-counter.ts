import type { IncomingHttpHeaders } from 'node:http';
import { OTHER_PREFIX, type RejectionCount, type RejectionReason } from '../inbox/rejection.js';

/** Why one webhook was rejected. */
export interface Rejection {
  readonly reason: RejectionReason;
  /** The prefix of its signature header; empty if it had none. */
  readonly headerPrefix: string;
}

const SIGNATURE_HEADER = /^x-(.+)-signature-256$/;
const USUAL_PREFIX = /^[a-z0-9-]{1,40}$/;

/** Returns the prefix of the signature header of a request, ours if there are several; empty if there is none. */
export function findSignaturePrefix(headers: IncomingHttpHeaders, ourPrefix: string): string {
  if (headers[`x-${ourPrefix}-signature-256`] !== undefined) return ourPrefix;
  const [prefix = ''] = Object.keys(headers).flatMap(name => SIGNATURE_HEADER.exec(name)?.[1] ?? []);
  return prefix === '' || USUAL_PREFIX.test(prefix) ? prefix : OTHER_PREFIX;
}

export interface RejectionCounterOptions {
  /** Writes counts to the inbox. If it rejects, they are kept and written later. */
  readonly write: (counts: readonly RejectionCount[]) => Promise<void>;
  readonly now: () => number;
  readonly everyMs?: number;
}

/** A count that is not written yet. */
interface PendingCount extends Omit<RejectionCount, 'newestMsAgo'> {
  /** When the newest of these webhooks arrived, in epoch ms. */
  readonly newestAt: number;
}

const WRITE_EVERY_MS = 5000;
/** Further header prefixes are counted as `OTHER_PREFIX`, so that a sender who invents prefixes cannot fill the memory. */
const MAX_PENDING_COUNTS = 32;

export type RejectionCounter = ReturnType<typeof createRejectionCounter>;

/** Counts rejected webhooks in memory and writes the counts: the first at once, later ones together every few seconds. */
export function createRejectionCounter(options: RejectionCounterOptions) {
  const { now, everyMs = WRITE_EVERY_MS } = options;
  let pendingCounts = new Map<string, PendingCount>();
  let timer: NodeJS.Timeout | undefined;
  let lastWrite: Promise<void> = Promise.resolve();

  /** Adds a count to the pending one with the same reason, status and prefix. */
  function add(count: PendingCount): void {
    const counted = pendingCounts.size < MAX_PENDING_COUNTS ? count : limitPrefixes(count);
    const key = getKey(counted);
    const pending = pendingCounts.get(key);
    pendingCounts.set(key, {
      ...counted,
      rejected: counted.rejected + (pending?.rejected ?? 0),
      newestAt: Math.max(counted.newestAt, pending?.newestAt ?? 0),
    });
  }

  function limitPrefixes(count: PendingCount): PendingCount {
    return pendingCounts.has(getKey(count)) ? count : { ...count, headerPrefix: OTHER_PREFIX };
  }

  async function writePending(): Promise<void> {
    const counts = [...pendingCounts.values()];
    if (counts.length === 0) return;
    pendingCounts = new Map();
    const writtenAt = now();
    const written = counts.map(({ newestAt, ...count }) => ({ ...count, newestMsAgo: writtenAt - newestAt }));
    await options.write(written).catch(() => counts.forEach(add));
  }

  function onTimer(): void {
    if (pendingCounts.size === 0) {
      timer = undefined;
      return;
    }
    lastWrite = writePending();
    timer = setTimeout(onTimer, everyMs);
  }

  return {
    count: ({ reason, headerPrefix }: Rejection, status: number): void => {
      add({ reason, status, headerPrefix, rejected: 1, newestAt: now() });
      timer ??= setTimeout(onTimer, 0);
    },
    /** Writes the pending counts, and stops writing. */
    close: async (): Promise<void> => {
      clearTimeout(timer);
      await lastWrite;
      await writePending();
    },
  };
}

function getKey({ reason, status, headerPrefix }: PendingCount): string {
  return `${reason} ${status} ${headerPrefix}`;
}
