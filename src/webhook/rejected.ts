import type { IncomingHttpHeaders } from 'node:http';
import { OTHER_PREFIX, type RejectionCount, type RejectionReason } from '../inbox/rejected.js';

/** Why one webhook was turned away. */
export interface Rejection {
  readonly reason: RejectionReason;
  readonly headerPrefix: string;
}

const SIGNATURE_HEADER = /^x-(.+)-signature-256$/;
const USUAL_PREFIX = /^[a-z0-9-]{1,40}$/;

/** The prefix of the signature header that came, ours before any other; empty where none came. */
export function findPrefix(headers: IncomingHttpHeaders, own: string): string {
  if (headers[`x-${own}-signature-256`] !== undefined) return own;
  const [prefix = ''] = Object.keys(headers).flatMap(name => SIGNATURE_HEADER.exec(name)?.[1] ?? []);
  return prefix === '' || USUAL_PREFIX.test(prefix) ? prefix : OTHER_PREFIX;
}

export interface RejectionCounterOptions {
  /** Rejects when they could not be written: they are counted on, and tried again. */
  readonly write: (rejected: readonly RejectionCount[]) => Promise<void>;
  readonly now: () => number;
  readonly everyMs?: number;
}

interface Counted extends Omit<RejectionCount, 'newestMsAgo'> {
  /** Epoch ms. */
  readonly newestAt: number;
}

const WRITE_EVERY_MS = 5000;
/** Whoever invents prefixes fills no more memory than this. */
const MAX_KINDS = 32;

export type RejectionCounter = ReturnType<typeof createRejectionCounter>;

/** Counts in memory; the first is written at once, those after it some seconds later, all together. */
export function createRejectionCounter(options: RejectionCounterOptions) {
  const { now, everyMs = WRITE_EVERY_MS } = options;
  let counted = new Map<string, Counted>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  function add(more: Counted): void {
    const { reason, status } = more;
    const kind = `${reason} ${status} ${more.headerPrefix}`;
    if (!counted.has(kind) && counted.size >= MAX_KINDS && more.headerPrefix !== OTHER_PREFIX) {
      return add({ ...more, headerPrefix: OTHER_PREFIX });
    }
    const before = counted.get(kind);
    const rejected = more.rejected + (before?.rejected ?? 0);
    const newestAt = Math.max(more.newestAt, before?.newestAt ?? 0);
    counted.set(kind, { ...more, rejected, newestAt });
    return undefined;
  }

  async function write(): Promise<void> {
    const latest = [...counted.values()];
    if (latest.length === 0) return;
    counted = new Map();
    const at = now();
    const written = latest.map(({ newestAt, ...more }) => ({ ...more, newestMsAgo: at - newestAt }));
    await options.write(written).catch(() => latest.forEach(add));
  }

  function turn(): void {
    if (counted.size === 0) {
      timer = undefined;
      return;
    }
    writing = write();
    timer = setTimeout(turn, everyMs);
  }

  return {
    count: ({ reason, headerPrefix }: Rejection, status: number): void => {
      add({ reason, status, headerPrefix, rejected: 1, newestAt: now() });
      timer ??= setTimeout(turn, 0);
    },
    /** Write what is counted, and no more after that. */
    close: async (): Promise<void> => {
      clearTimeout(timer);
      await writing;
      await write();
    },
  };
}
