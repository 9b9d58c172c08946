import { parentPort, workerData } from 'node:worker_threads';
import { openDoorPort } from '../engines/sqlite/inbox/door.js';
import { describeFailure } from '../inbox/delivery.js';
import { serveDoor } from '../webhook/thread-service.js';

/** What the thread is started with. */
export interface DoorThreadData {
  /** An inbox.db that has been migrated. */
  readonly file: string;
  readonly busyTimeoutMs: number;
  readonly secrets: readonly string[];
  readonly appId: string;
}

function start(port: NonNullable<typeof parentPort>, data: DoorThreadData): void {
  const { file, busyTimeoutMs, secrets, appId } = data;
  let told = 0;
  const door = openDoorPort({ file, busyTimeoutMs, now: () => told });
  const tellTime = (now: number) => {
    told = now;
  };
  serveDoor(port, { door, secrets, appId, tellTime });
}

if (parentPort !== null) {
  try {
    start(parentPort, workerData);
  } catch (error) {
    parentPort.postMessage({ obstacle: describeFailure(error).message }, []);
  }
}
