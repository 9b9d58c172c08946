/**
 * Sends events to subscriptions and evaluates freshness and failed jobs. Both run in a thread of its own, so that no read of the
 * registry waits for them.
 */
import { resolveBuiltFile } from '../../package.js';
import type { StoreSettings } from '../../store/settings.js';
import { describeFailure } from '../../sync/outcome.js';
import { coalesce } from '../../text/coalesce.js';
import { startThread } from '../../thread.js';
import type { OutboundRange } from '../outbound/address-ranges.js';
import type { ProcessDependencies } from '../process-health.js';

/** The `workerData` of the thread. */
export interface EventThreadData {
  /** Names a database of subscriptions that has been migrated. */
  readonly store: StoreSettings;
  readonly keyFile: string;
  readonly retentionDays: number;
  readonly outboundAllow: readonly OutboundRange[];
}

/** Numbers of subscriptions and events, for metrics. */
interface EventCounts {
  readonly subscriptions: Readonly<Record<'active' | 'paused', number>>;
  readonly heldOrganizations: number;
  readonly delivered: number;
  readonly refused: number;
}

/** The functions of the thread. */
export interface EventThreadApi {
  /** Starts to send what is due. */
  readonly poll: (now: number) => Promise<void>;
  /** Numbers changes of freshness and failed jobs, and deletes old attempts. */
  readonly evaluate: (now: number) => Promise<EventCounts>;
  readonly close: () => Promise<void>;
}

/** A log line of the thread. */
export interface LogNotice {
  readonly level: 'info' | 'warn' | 'error';
  readonly fields: object;
  readonly message: string;
}

const THREAD_ENTRY = resolveBuiltFile(import.meta.url, './event-thread.js');
/** How often the database is asked for changes of other processes and for retries that have become due. */
const POLL_INTERVAL_MS = 1_000;
const EVALUATION_INTERVAL_MS = 15_000;

export interface EventSending {
  /** Sends new changes at once instead of at the next poll. */
  readonly wake: () => void;
  readonly readCounts: () => EventCounts | null;
  readonly stop: () => Promise<void>;
}

/**
 * Starts the thread that sends events to subscribers. At regular intervals, the thread sends the events that are due. Returns three
 * functions: `wake` makes the thread send at once, `readCounts` returns the latest counts of subscriptions and events, and `stop`
 * stops the thread.
 */
export async function startEventSending(
  { log, now }: ProcessDependencies,
  workerData: EventThreadData,
): Promise<EventSending> {
  const { call, close } = await startThread<EventThreadApi>({
    entry: THREAD_ENTRY,
    workerData,
    description: 'the thread that sends events',
    onFailed: error =>
      log.error({ error: describeFailure(error) }, 'event thread failed; no events are sent'),
    onNotice: ({ level, fields, message }: LogNotice) => log[level](fields, message),
  });
  let isStopped = false;
  let counts: EventCounts | null = null;
  let failedLast = false;

  /** Logs a failure to send events, but only the first of several in a row, because an outage would fill the log. */
  function recordFailure(error: unknown): void {
    if (!isStopped && !failedLast) log.error({ error: describeFailure(error) }, 'sending events failed');
    failedLast = true;
  }

  const poll = coalesce(async () => {
    if (isStopped) return;
    try {
      await call('poll', [now()]);
      failedLast = false;
    } catch (error) {
      recordFailure(error);
    }
  });
  const evaluate = coalesce(async () => {
    if (isStopped) return;
    try {
      counts = await call('evaluate', [now()]);
    } catch (error) {
      recordFailure(error);
    }
  });
  const polling = setInterval(() => void poll(), POLL_INTERVAL_MS).unref();
  const evaluating = setInterval(() => void evaluate(), EVALUATION_INTERVAL_MS).unref();
  void poll();
  void evaluate();

  return {
    wake: () => void poll(),
    readCounts: () => counts,
    stop: async () => {
      isStopped = true;
      clearInterval(polling);
      clearInterval(evaluating);
      await close();
    },
  };
}
