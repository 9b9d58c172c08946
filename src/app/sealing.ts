import { resolveBuiltFile } from '../package.js';
import type { StoreSettings } from '../store/settings.js';
import { describeFailure } from '../sync/outcome.js';
import { type SerializedError, startThread } from '../thread.js';
import type { ProcessDependencies } from './running-process.js';

/** What the thread is started with. */
export interface SealThreadData {
  /** Where an evidence is that has been migrated. */
  readonly store: StoreSettings;
  readonly keyFile: string;
  readonly mirrorMembers: boolean;
}

export interface SealThreadApi {
  /** Answers how many leaves are sealed; null where somebody else seals. */
  readonly seal: (now: number) => Promise<number | null>;
  readonly close: () => Promise<void>;
}

const ENTRY = resolveBuiltFile(import.meta.url, './seal-thread.js');
const EVERY_MS = 60_000;

/** Seals again and again, in a thread of its own: no read waits for it. Answers what ends it. */
export async function startSealing(
  { log, now }: ProcessDependencies,
  workerData: SealThreadData,
  everyMs = EVERY_MS,
): Promise<() => Promise<void>> {
  const failed = (error: Error) => log.error({ error: describeFailure(error) }, 'nothing is sealed any more');
  const { ask, close } = await startThread<SealThreadApi>({
    entry: ENTRY,
    workerData,
    description: 'the thread that seals',
    onFailed: failed,
    restoreError: errorOf,
  });
  let stopped = false;
  let timer = setTimeout(() => void round(), 0).unref();

  async function round(): Promise<void> {
    await ask('seal', [now()]).catch((error: unknown) => {
      if (!stopped) log.error({ error: describeFailure(error) }, 'nothing was sealed this time');
    });
    if (!stopped) timer = setTimeout(() => void round(), everyMs).unref();
  }

  return async () => {
    stopped = true;
    clearTimeout(timer);
    await close();
  };
}

function errorOf({ code, message, stack }: SerializedError): Error {
  return Object.assign(new Error(message), { stack, code });
}
