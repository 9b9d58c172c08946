import type { ReceiverPort } from '../inbox/port.js';
import { startThread, type ThreadOptions } from '../thread.js';
import type { PostResult, WebhookPost } from './post-handler.js';

/** A batch of posts whose bodies are in one buffer, which moves to the thread without a copy. */
interface PackedPosts {
  readonly bytes: Uint8Array;
  readonly posts: readonly PackedPost[];
}

/** A packed post, with the size of its body in the shared buffer. */
type PackedPost = Omit<WebhookPost, 'body'> & { readonly size: number };

/** The calls that the thread answers. It has no clock of its own, so each call passes the current time. */
export interface ReceiverThreadApi {
  /** Verifies and stores posts. Returns one result per post, in order. */
  readonly accept: (now: number, posts: PackedPosts) => Promise<readonly PostResult[]>;
  readonly countRejected: WithTime<ReceiverPort['countRejected']>;
  readonly findWriteObstacle: WithTime<ReceiverPort['findWriteObstacle']>;
  readonly heartbeat: WithTime<ReceiverPort['heartbeat']>;
  readonly close: ReceiverPort['close'];
}

/** The same function with the current time as an additional first parameter. */
type WithTime<Call extends (...parameters: never[]) => unknown> = (
  now: number,
  ...parameters: Parameters<Call>
) => ReturnType<Call>;

type ReceiverThreadOptions = Omit<ThreadOptions, 'description'> & { readonly now: () => number };

/** Starts a worker thread that verifies and stores webhook posts. Returns the functions that call the thread. */
export async function startReceiverThread({ now, ...options }: ReceiverThreadOptions) {
  // In the HTTP server's own thread, slow disk writes would block the server.
  const description = 'the thread that stores deliveries';
  const { call, close } = await startThread<ReceiverThreadApi>({ ...options, description });
  return {
    accept: (posts: readonly WebhookPost[]) => {
      const packed = packPosts(posts);
      return call('accept', [now(), packed], [packed.bytes.buffer]);
    },
    /** Adds to the counts of rejected webhooks. Rejects if they could not be written. */
    countRejected: (...parameters: Parameters<ReceiverPort['countRejected']>) =>
      call('countRejected', [now(), ...parameters]),
    /** Returns why the inbox cannot be written at present, or null if it can. */
    findWriteObstacle: () => call('findWriteObstacle', [now()]),
    /** Records that the receiver is alive, and returns which other processes are. */
    heartbeat: (...parameters: Parameters<ReceiverPort['heartbeat']>) =>
      call('heartbeat', [now(), ...parameters]),
    close,
  };
}

/** Copies the bodies of posts into one buffer, which can be moved to a thread without another copy. */
function packPosts(posts: readonly WebhookPost[]) {
  const bytes = new Uint8Array(posts.reduce((total, { body }) => total + body.length, 0));
  let offset = 0;
  const packedPosts = posts.map(({ body, ...post }) => {
    bytes.set(body, offset);
    offset += body.length;
    return { ...post, size: body.length };
  });
  return { bytes, posts: packedPosts };
}

/** Restores the posts that `packPosts` packed. Each body is a view of the shared buffer. */
export function unpackPosts({ bytes, posts }: PackedPosts): WebhookPost[] {
  let offset = 0;
  return posts.map(({ size, ...post }) => {
    const body = bytes.subarray(offset, offset + size);
    offset += size;
    return { ...post, body };
  });
}
