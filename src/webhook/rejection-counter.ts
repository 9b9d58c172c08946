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

/**
 * Returns the prefix of a header `x-<prefix>-signature-256`, preferably `ourPrefix`. Returns an empty text if there is no
 * such header.
 */
export function findSignaturePrefix(headers: IncomingHttpHeaders, ourPrefix: string): string {
  // `ourPrefix` wins over others. An unusual prefix is counted as `OTHER_PREFIX`.
  if (headers[`x-${ourPrefix}-signature-256`] !== undefined) return ourPrefix;
  const [prefix = ''] = Object.keys(headers).flatMap(name => SIGNATURE_HEADER.exec(name)?.[1] ?? []);
  return prefix === '' || USUAL_PREFIX.test(prefix) ? prefix : OTHER_PREFIX;
}

export interface RejectionCounterOptions {
  /** Writes counts to the inbox. If it rejects, they are kept and written later. */
  readonly write: (counts: readonly RejectionCount[]) => Promise<void>;
  readonly now: () => number;
  readonly intervalMs?: number;
}

/** A count of rejected webhooks that is not written to the inbox yet. */
interface PendingCount extends Omit<RejectionCount, 'newestMsAgo'> {
  /** When the newest of these webhooks arrived, in epoch ms. */
  readonly newestAt: number;
}

const WRITE_INTERVAL_MS = 5000;
/** Further header prefixes are counted as `OTHER_PREFIX`, so that a sender who invents prefixes cannot fill the memory. */
const MAX_PENDING_COUNTS = 32;

export type RejectionCounter = ReturnType<typeof createRejectionCounter>;

/** Creates a counter of rejected webhooks that writes its counts to the database every few seconds. */
export function createRejectionCounter(options: RejectionCounterOptions) {
  const { now, intervalMs = WRITE_INTERVAL_MS } = options;
  let pendingCounts = new Map<string, PendingCount>();
  let timer: NodeJS.Timeout | undefined;
  let lastWrite: Promise<void> = Promise.resolve();

  /** Adds a count of rejected webhooks to the pending ones. Merges counts with the same reason, status and header prefix. */
  function addCount(count: PendingCount): void {
    const counted = pendingCounts.size < MAX_PENDING_COUNTS ? count : replaceExcessPrefix(count);
    const key = toCountKey(counted);
    const pending = pendingCounts.get(key);
    pendingCounts.set(key, {
      ...counted,
      rejected: counted.rejected + (pending?.rejected ?? 0),
      newestAt: Math.max(counted.newestAt, pending?.newestAt ?? 0),
    });
  }

  /** Returns the count under the prefix `OTHER_PREFIX`, unless its own prefix is already counted. */
  function replaceExcessPrefix(count: PendingCount): PendingCount {
    return pendingCounts.has(toCountKey(count)) ? count : { ...count, headerPrefix: OTHER_PREFIX };
  }

  /** Writes the pending counts of rejected webhooks. Keeps the counts if the write fails. */
  async function writePendingCounts(): Promise<void> {
    const counts = [...pendingCounts.values()];
    if (counts.length === 0) return;
    pendingCounts = new Map();
    const writtenAt = now();
    const written = counts.map(({ newestAt, ...count }) => ({ ...count, newestMsAgo: writtenAt - newestAt }));
    await options.write(written).catch(() => counts.forEach(addCount));
  }

  /**
   * Called by the timer. Writes the pending counts of rejected webhooks and restarts the timer, or stops it if there are
   * none.
   */
  function writeOnTimer(): void {
    if (pendingCounts.size === 0) {
      timer = undefined;
      return;
    }
    lastWrite = writePendingCounts();
    timer = setTimeout(writeOnTimer, intervalMs);
  }

  return {
    /** Counts one rejected webhook that was answered with this status. */
    count: ({ reason, headerPrefix }: Rejection, status: number): void => {
      addCount({ reason, status, headerPrefix, rejected: 1, newestAt: now() });
      // The first count is written at once, later ones together.
      timer ??= setTimeout(writeOnTimer, 0);
    },
    /** Writes the pending counts, and stops writing. */
    close: async (): Promise<void> => {
      clearTimeout(timer);
      await lastWrite;
      await writePendingCounts();
    },
  };
}

/** Formats the map key of a count: `<reason> <status> <prefix>`. */
function toCountKey({ reason, status, headerPrefix }: PendingCount): string {
  return `${reason} ${status} ${headerPrefix}`;
}
