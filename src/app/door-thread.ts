import { parentPort, workerData } from 'node:worker_threads';
import type { StoreSettings } from '../engines/settings.js';
import { openDoor } from '../engines/open-door.js';
import { describeFailure } from '../inbox/delivery.js';
import { serveDoor } from '../webhook/thread-service.js';
import type { ThreadNews } from '../webhook/thread.js';

/** What the thread is started with. */
export interface DoorThreadData {
  /** Where an inbox is that has been migrated. */
  readonly store: StoreSettings;
  readonly secrets: readonly string[];
  readonly appId: string;
}

async function start(port: NonNullable<typeof parentPort>, data: DoorThreadData): Promise<void> {
  const { store, secrets, appId } = data;
  let told = 0;
  const door = await openDoor(
    store,
    () => told,
    error => {
      const news: ThreadNews = { lost: describeFailure(error) };
      port.postMessage(news);
    },
  );
  const tellTime = (now: number) => {
    told = now;
  };
  serveDoor(port, { door, secrets, appId, tellTime });
}

if (parentPort !== null) {
  try {
    await start(parentPort, workerData);
  } catch (error) {
    parentPort.postMessage({ obstacle: describeFailure(error).message }, []);
  }
}
