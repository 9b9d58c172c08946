import type { MessagePort } from 'node:worker_threads';
import { describeFailure } from '../inbox/delivery.js';
import type { DoorPort } from '../inbox/port.js';
import { createAcceptPosts } from './posts.js';
import {
  type Answers,
  type Given,
  type Name,
  type ThreadAnswer,
  type ThreadRequest,
  unpack,
} from './thread.js';

export interface DoorService {
  readonly door: DoorPort;
  /** Newest first; all are tried. */
  readonly secrets: readonly string[];
  readonly appId: string;
  /** The thread has no clock of its own: each request tells what time it is. */
  readonly tellTime: (now: number) => void;
}

type Operations = { readonly [Each in Name]: (given: Given[Each], now: number) => Promise<Answers[Each]> };

/** What runs in the thread: posts are verified and stored, and what else the door asks of its inbox is done. */
export function serveDoor(port: MessagePort, { door, secrets, appId, tellTime }: DoorService): void {
  const acceptPosts = createAcceptPosts({ secrets, appId, store: door.store });
  const operations: Operations = {
    ...door,
    accept: (packed, now) => acceptPosts(unpack(packed, now), now),
  };

  async function perform({ id, name, given, now }: ThreadRequest): Promise<ThreadAnswer> {
    tellTime(now);
    try {
      return { id, answer: await call(operations, name, given, now) };
    } catch (error) {
      return { id, obstacle: describeFailure(error).message };
    }
  }

  async function answer(request: ThreadRequest): Promise<void> {
    port.postMessage(await perform(request));
    if (request.name === 'close') port.close();
  }

  port.on('message', (request: ThreadRequest) => void answer(request));
  port.postMessage(null);
}

function call<Each extends Name>(
  operations: Operations,
  name: Each,
  given: Given[Each],
  now: number,
): Promise<Answers[Each]> {
  return operations[name](given, now);
}
