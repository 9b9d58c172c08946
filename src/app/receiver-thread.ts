import { parentPort, workerData } from 'node:worker_threads';
import { openReceiver } from '../store/open-receiver.js';
import type { StoreSettings } from '../store/settings.js';
import { toStoreFailure } from '../inbox/delivery.js';
import { serveThread } from '../thread.js';
import { createPostHandler } from '../webhook/posts.js';
import { type ReceiverThreadApi, unpackPosts } from '../webhook/thread.js';

/** What the thread is started with. */
export interface ReceiverThreadData {
  /** Where an inbox is that has been migrated. */
  readonly store: StoreSettings;
  readonly secrets: readonly string[];
  readonly appId: string;
}

async function open(
  { store, secrets, appId }: ReceiverThreadData,
  lost: (error: Error) => void,
): Promise<ReceiverThreadApi> {
  let told = 0;
  const receiver = await openReceiver(store, () => told, lost);
  const acceptPosts = createPostHandler({ secrets, appId, store: receiver.store });
  const at =
    <Given extends readonly unknown[], Answer>(work: (...given: Given) => Answer) =>
    (now: number, ...given: Given): Answer => {
      told = now;
      return work(...given);
    };
  return {
    accept: (now, packed) => at(acceptPosts)(now, unpackPosts(packed), now),
    countRejected: at(receiver.countRejected),
    findWriteObstacle: at(receiver.findWriteObstacle),
    heartbeat: at(receiver.heartbeat),
    close: receiver.close,
  };
}

const port = parentPort;
if (port !== null) {
  const lost = (error: Error) => port.postMessage({ news: toStoreFailure(error) });
  await serveThread(port, () => open(workerData, lost));
}
