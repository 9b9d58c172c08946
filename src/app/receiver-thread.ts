/**
 * The thread of the receiver that verifies signatures and writes to the inbox. It is the only code of the receiver process
 * that holds the webhook secrets.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { openReceiver } from '../store/open-receiver.js';
import type { StoreSettings } from '../store/settings.js';
import { toStoreFailure } from '../inbox/delivery.js';
import { serveThread } from '../thread.js';
import { createPostHandler } from '../webhook/post-handler.js';
import { type ReceiverThreadApi, unpackPosts } from '../webhook/start-receiver-thread.js';

/** The `workerData` of the receiver thread. */
export interface ReceiverThreadData {
  /** Names an inbox that has been migrated. */
  readonly store: StoreSettings;
  readonly secrets: readonly string[];
  readonly appId: string;
}

/** Opens the inbox and returns the functions that the main thread can call in the receiver thread. */
async function openReceiverApi(
  { store, secrets, appId }: ReceiverThreadData,
  onConnectionLost: (error: Error) => void,
): Promise<ReceiverThreadApi> {
  let currentTime = 0;
  const receiver = await openReceiver(store, () => currentTime, onConnectionLost);
  const acceptPosts = createPostHandler({ secrets, appId, store: receiver.store });

  /**
   * Wraps `run` so that it takes the current time as an additional first argument. The receiver thread uses this time, which the
   * main thread passes, as its clock.
   */
  function withTime<Parameters extends readonly unknown[], Result>(
    run: (...parameters: Parameters) => Result,
  ): (now: number, ...parameters: Parameters) => Result {
    return (now, ...parameters) => {
      currentTime = now;
      return run(...parameters);
    };
  }

  return {
    accept: (now, packedPosts) => withTime(acceptPosts)(now, unpackPosts(packedPosts), now),
    countRejected: withTime(receiver.countRejected),
    findWriteObstacle: withTime(receiver.findWriteObstacle),
    heartbeat: withTime(receiver.heartbeat),
    close: receiver.close,
  };
}

const port = parentPort;
if (port !== null) {
  const sendConnectionLost = (error: Error) => port.postMessage({ notice: toStoreFailure(error) });
  await serveThread(port, () => openReceiverApi(workerData, sendConnectionLost));
}
