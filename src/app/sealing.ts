/**
 * Seals new data of the mirror (appends it to the evidence log and signs a checkpoint) once a minute. A separate thread does
 * it, so that no read of the registry waits.
 */
import { resolveBuiltFile } from '../package.js';
import type { StoreSettings } from '../store/settings.js';
import { describeFailure } from '../sync/outcome.js';
import { startThread } from '../thread.js';
import type { OutboundRange } from './outbound/address-ranges.js';
import type { ProcessDependencies } from './process-health.js';

/** The settings that the sealing thread receives as `workerData`. */
export interface SealThreadData {
  /** The settings that locate the databases. The schema of the evidence log must be migrated. */
  readonly store: StoreSettings;
  /** The path of the signing key. */
  readonly keyFile: string;
  /** False if members are no longer mirrored; then their leaves are erased. */
  readonly mirrorMembers: boolean;
  /** The file to which each new checkpoint is written; null for none. */
  readonly evidenceCheckpointFile: string | null;
  /** The address of the timestamp authority; null for none. */
  readonly evidenceTimestampUrl: string | null;
  /** Non-public address ranges in which the timestamp authority may be. */
  readonly outboundAllow: readonly OutboundRange[];
}

/** The functions of the sealing thread that the main thread calls. */
export interface SealThreadApi {
  /** Seals new data. Returns the size of the evidence log, or null if another process is sealing. */
  readonly seal: (now: number) => Promise<number | null>;
  /** Writes the newest checkpoint to the published file, and requests at most one timestamp a day. */
  readonly publish: (now: number) => Promise<void>;
  /** Waits for the current sealing run and closes the databases. */
  readonly close: () => Promise<void>;
}

const THREAD_ENTRY = resolveBuiltFile(import.meta.url, './seal-thread.js');
/** The pause between two sealing runs. */
const INTERVAL_MS = 60_000;
const RETRY_PUBLISHING_MS = 15 * 60_000;

/**
 * Starts a thread that seals new data of the mirror (appends it to the evidence log and signs a checkpoint) and publishes the
 * checkpoint. The thread does this immediately and then at regular intervals. A failure is logged, and the thread goes on. Returns
 * a function that stops the thread.
 */
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

  /** Seals new data, publishes the newest checkpoint and schedules its own next call. Failures are logged. */
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
