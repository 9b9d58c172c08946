/**
 * Seals what the mirror has observed into the evidence log, once a minute. Sealing runs in a thread of its own, so that no
 * read of the registry waits for it.
 */
import { resolveBuiltFile } from '../package.js';
import type { StoreSettings } from '../store/settings.js';
import { describeFailure } from '../sync/outcome.js';
import { startThread } from '../thread.js';
import type { OutboundRange } from './outbound/address-ranges.js';
import type { ProcessDependencies } from './process-health.js';

/** The `workerData` of the sealing thread. */
export interface SealThreadData {
  /** Names an evidence log that has been migrated. */
  readonly store: StoreSettings;
  readonly keyFile: string;
  readonly mirrorMembers: boolean;
  readonly evidenceCheckpointFile: string | null;
  readonly evidenceTimestampUrl: string | null;
  /** Ranges beside public addresses in which the timestamp authority may be. */
  readonly outboundAllow: readonly OutboundRange[];
}

/** The functions of the sealing thread. */
export interface SealThreadApi {
  /** Seals new observations. Returns the size of the evidence log, or null if another process is sealing. */
  readonly seal: (now: number) => Promise<number | null>;
  /** Writes the published file, and requests the timestamp of the day. Fails independently of sealing. */
  readonly publish: (now: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

const THREAD_ENTRY = resolveBuiltFile(import.meta.url, './seal-thread.js');
const INTERVAL_MS = 60_000;
const RETRY_PUBLISHING_MS = 15 * 60_000;

/** Starts a thread that periodically adds new data to the evidence log. Returns a function that stops the thread. */
export async function startSealing(
  { log, now }: ProcessDependencies,
  workerData: SealThreadData,
  intervalMs = INTERVAL_MS,
): Promise<() => Promise<void>> {
  const { call, close } = await startThread<SealThreadApi>({
    entry: THREAD_ENTRY,
    workerData,
    description: 'the thread that seals',
    onFailed: error => log.error({ error: describeFailure(error) }, 'sealing thread failed; sealing stopped'),
  });
  let isStopped = false;
  let publishFrom = 0;
  let timer = setTimeout(() => void sealAndSchedule(), 0).unref();

  /** Appends new data to the evidence log, publishes a checkpoint and schedules its own next call. Failures are logged. */
  async function sealAndSchedule(): Promise<void> {
    await call('seal', [now()]).catch((error: unknown) => {
      if (!isStopped) log.error({ error: describeFailure(error) }, 'sealing failed');
    });
    if (now() >= publishFrom)
      await call('publish', [now()]).catch((error: unknown) => {
        publishFrom = now() + RETRY_PUBLISHING_MS;
        if (!isStopped) log.warn({ error: describeFailure(error) }, 'publishing a checkpoint failed');
      });
    if (!isStopped) timer = setTimeout(() => void sealAndSchedule(), intervalMs).unref();
  }

  return async () => {
    isStopped = true;
    clearTimeout(timer);
    await close();
  };
}
