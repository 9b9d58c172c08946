import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type StoreFailure, describeFailure } from '../inbox/delivery.js';
import { openStore } from '../inbox/store.js';
import { createAcceptPosts } from './posts.js';
import {
  type DoorThreadData,
  type SignRequest,
  type ThreadAnswer,
  type ThreadRequest,
  unpack,
} from './thread.js';

/** What runs in the thread: one connection, one request after the other. */
function serve(port: MessagePort, { file, busyTimeoutMs, secrets, appId }: DoorThreadData): void {
  const inbox = openStore({ file, busyTimeoutMs });
  const accept = createAcceptPosts({
    secrets,
    appId,
    store: (deliveries, now) => inbox.store(deliveries, now),
  });

  function answer(request: ThreadRequest): ThreadAnswer {
    if (request.kind === 'accept') return accept(unpack(request), request.now);
    if (request.kind === 'sign') return sign(request);
    const obstacle = findObstacle(request);
    return obstacle === null ? [] : { obstacle: obstacle.message };
  }

  function sign({ self, now }: SignRequest): ThreadAnswer {
    try {
      inbox.signOfLife(self, now);
      return { pulse: inbox.readPulse(now) };
    } catch (error) {
      return { obstacle: describeFailure(error).message };
    }
  }

  function findObstacle(request: Exclude<ThreadRequest, { kind: 'accept' | 'sign' }>): StoreFailure | null {
    if (request.kind === 'refusals') return inbox.countRefusals(request.refusals);
    if (request.kind === 'check') return inbox.findObstacle();
    inbox.close();
    return null;
  }

  port.on('message', (request: ThreadRequest) => {
    port.postMessage(answer(request));
    if (request.kind === 'close') port.close();
  });
  port.postMessage([]);
}

if (parentPort !== null) {
  try {
    serve(parentPort, workerData);
  } catch (error) {
    parentPort.postMessage({ obstacle: describeFailure(error).message }, []);
  }
}
