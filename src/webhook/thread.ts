import type { ReceiverPort } from '../inbox/port.js';
import { startThread, type ThreadOptions } from '../thread.js';
import type { PostEnd, Post } from './posts.js';

export type ReceiverThread = Awaited<ReturnType<typeof startReceiverThread>>;

/** Many posts in one piece of memory, which changes hands without being copied. */
export interface PackedPosts {
  readonly bytes: Uint8Array;
  /** Where each body ends. */
  readonly ends: readonly number[];
  readonly signatures: readonly (string | null)[];
  readonly receivedAt: readonly number[];
}

/** What the thread does. It has no clock of its own: each request tells what time it is. */
export interface ReceiverWorks {
  /** Verify and store; one outcome for each. */
  readonly accept: (now: number, posts: PackedPosts) => Promise<readonly PostEnd[]>;
  readonly countRejected: Timed<ReceiverPort['countRejected']>;
  readonly findObstacle: Timed<ReceiverPort['findObstacle']>;
  readonly heartbeat: Timed<ReceiverPort['heartbeat']>;
  readonly close: ReceiverPort['close'];
}

type Given = { readonly [Each in keyof ReceiverWorks]: Parameters<ReceiverWorks[Each]> };
type Answers = { readonly [Each in keyof ReceiverWorks]: Awaited<ReturnType<ReceiverWorks[Each]>> };
type Timed<Work extends (...given: never[]) => unknown> = (
  now: number,
  ...given: Parameters<Work>
) => ReturnType<Work>;

interface ReceiverThreadOptions extends Omit<ThreadOptions, 'what'> {
  readonly now: () => number;
}

/**
 * Signatures and the database in a thread of their own: neither a flush to disk nor a wait for a lock
 * stops the receiver from reading and answering.
 */
export async function startReceiverThread({ now, ...options }: ReceiverThreadOptions) {
  const what = 'the thread that stores deliveries';
  const { asking, close } = await startThread({ ...options, what });
  const ask = asking<Given, Answers>();
  return {
    accept: (posts: readonly Post[]) => {
      const bytes = new Uint8Array(posts.reduce((total, { body }) => total + body.length, 0));
      return ask('accept', [now(), pack(posts, bytes)], [bytes.buffer]);
    },
    /** Rejects with the reason when they could not be counted. */
    countRejected: (...given: Parameters<ReceiverPort['countRejected']>) =>
      ask('countRejected', [now(), ...given]),
    /** Resolves when the database takes a write at present; rejects with the reason when it does not. */
    checkWritable: async () => {
      const obstacle = await ask('findObstacle', [now()]);
      if (obstacle !== null) throw new Error(obstacle.message);
    },
    /** Says that the receiver lives, and answers who else does. */
    heartbeat: (...given: Parameters<ReceiverPort['heartbeat']>) => ask('heartbeat', [now(), ...given]),
    close,
  };
}

function pack(posts: readonly Post[], bytes: Uint8Array): PackedPosts {
  let end = 0;
  const ends = posts.map(({ body }) => {
    bytes.set(body, end);
    end += body.length;
    return end;
  });
  const signatures = posts.map(({ signature }) => signature);
  const receivedAt = posts.map(post => post.receivedAt);
  return { bytes, ends, signatures, receivedAt };
}

/** In the thread: the posts as they were, each body a view of the one piece of memory. */
export function unpack({ bytes, ends, signatures, receivedAt }: PackedPosts, now: number): Post[] {
  return ends.map((end, index) => ({
    body: bytes.subarray(ends[index - 1] ?? 0, end),
    signature: signatures[index] ?? null,
    receivedAt: receivedAt[index] ?? now,
  }));
}
