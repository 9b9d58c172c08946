import { parentPort, workerData } from 'node:worker_threads';
import { openDoor } from '../store/open-door.js';
import type { StoreSettings } from '../store/settings.js';
import { describeFailure } from '../inbox/delivery.js';
import { serveThread } from '../thread.js';
import { createAcceptPosts } from '../webhook/posts.js';
import { type DoorWorks, unpack } from '../webhook/thread.js';

/** What the thread is started with. */
export interface DoorThreadData {
  /** Where an inbox is that has been migrated. */
  readonly store: StoreSettings;
  readonly secrets: readonly string[];
  readonly appId: string;
}

async function open(
  { store, secrets, appId }: DoorThreadData,
  lost: (error: Error) => void,
): Promise<DoorWorks> {
  let told = 0;
  const door = await openDoor(store, () => told, lost);
  const acceptPosts = createAcceptPosts({ secrets, appId, store: door.store });
  const at =
    <Given extends readonly unknown[], Answer>(work: (...given: Given) => Answer) =>
    (now: number, ...given: Given): Answer => {
      told = now;
      return work(...given);
    };
  return {
    accept: (now, packed) => at(acceptPosts)(now, unpack(packed, now), now),
    countRejected: at(door.countRejected),
    findObstacle: at(door.findObstacle),
    heartbeat: at(door.heartbeat),
    close: door.close,
  };
}

const port = parentPort;
if (port !== null) {
  const lost = (error: Error) => port.postMessage({ news: describeFailure(error) });
  await serveThread(port, () => open(workerData, lost));
}
