import type { ReceiverPort } from '../inbox/port.js';
import { startThread, type ThreadOptions } from '../thread.js';
import type { PostEnd, WebhookPost } from './posts.js';

/** Many posts, their bodies in one piece of memory, which changes hands without being copied. */
interface PackedPosts {
  readonly bytes: Uint8Array;
  readonly posts: readonly PackedPost[];
}

type PackedPost = Omit<WebhookPost, 'body'> & { readonly size: number };

/** What the thread does. It has no clock of its own: each request tells what time it is. */
export interface ReceiverWorks {
  /** Verify and store; one outcome for each. */
  readonly accept: (now: number, posts: PackedPosts) => Promise<readonly PostEnd[]>;
  readonly countRejected: Timed<ReceiverPort['countRejected']>;
  readonly findObstacle: Timed<ReceiverPort['findWriteObstacle']>;
  readonly heartbeat: Timed<ReceiverPort['heartbeat']>;
  readonly close: ReceiverPort['close'];
}

type Timed<Work extends (...given: never[]) => unknown> = (
  now: number,
  ...given: Parameters<Work>
) => ReturnType<Work>;

type ReceiverThreadOptions = Omit<ThreadOptions, 'what'> & { readonly now: () => number };

/**
 * Signatures and the database in a thread of their own: neither a flush to disk nor a wait for a lock
 * stops the receiver from reading and answering.
 */
export async function startReceiverThread({ now, ...options }: ReceiverThreadOptions) {
  const what = 'the thread that stores deliveries';
  const { ask, close } = await startThread<ReceiverWorks>({ ...options, what });
  return {
    accept: (posts: readonly WebhookPost[]) => {
      const packed = pack(posts);
      return ask('accept', [now(), packed], [packed.bytes.buffer]);
    },
    /** Rejects with the reason when they could not be counted. */
    countRejected: (...given: Parameters<ReceiverPort['countRejected']>) =>
      ask('countRejected', [now(), ...given]),
    findObstacle: () => ask('findObstacle', [now()]),
    /** Says that the receiver lives, and answers who else does. */
    heartbeat: (...given: Parameters<ReceiverPort['heartbeat']>) => ask('heartbeat', [now(), ...given]),
    close,
  };
}

function pack(all: readonly WebhookPost[]) {
  const bytes = new Uint8Array(all.reduce((total, { body }) => total + body.length, 0));
  let start = 0;
  const posts = all.map(({ body, ...post }) => {
    bytes.set(body, start);
    start += body.length;
    return { ...post, size: body.length };
  });
  return { bytes, posts };
}

/** In the thread: the posts as they were, each body a view of the one piece of memory. */
export function unpack({ bytes, posts }: PackedPosts): WebhookPost[] {
  let start = 0;
  return posts.map(({ size, ...post }) => {
    const body = bytes.subarray(start, start + size);
    start += size;
    return { ...post, body };
  });
}
