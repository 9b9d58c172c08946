import type { DoorPort } from '../inbox/port.js';
import { startThread, type ThreadOptions } from '../thread.js';
import type { PostEnd, Post } from './posts.js';

export type DoorThread = Awaited<ReturnType<typeof startDoorThread>>;

/** Many posts in one piece of memory, which changes hands without being copied. */
export interface PackedPosts {
  readonly bytes: Uint8Array;
  /** Where each body ends. */
  readonly ends: readonly number[];
  readonly signatures: readonly (string | null)[];
  readonly receivedAt: readonly number[];
}

/** What the thread does. It has no clock of its own: each request tells what time it is. */
export interface DoorWorks {
  /** Verify and store; one outcome for each. */
  readonly accept: (now: number, posts: PackedPosts) => Promise<readonly PostEnd[]>;
  readonly countRejected: Timed<DoorPort['countRejected']>;
  readonly findObstacle: Timed<DoorPort['findObstacle']>;
  readonly heartbeat: Timed<DoorPort['heartbeat']>;
  readonly close: DoorPort['close'];
}

type Given = { readonly [Each in keyof DoorWorks]: Parameters<DoorWorks[Each]> };
type Answers = { readonly [Each in keyof DoorWorks]: Awaited<ReturnType<DoorWorks[Each]>> };
type Timed<Work extends (...given: never[]) => unknown> = (
  now: number,
  ...given: Parameters<Work>
) => ReturnType<Work>;

interface DoorThreadOptions extends Omit<ThreadOptions, 'what'> {
  readonly now: () => number;
}

/**
 * Signatures and the database in a thread of their own: neither a flush to disk nor a wait for a lock
 * stops the receiver from reading and answering.
 */
export async function startDoorThread({ now, ...options }: DoorThreadOptions) {
  const what = 'the thread that stores deliveries';
  const { asking, close } = await startThread({ ...options, what });
  const ask = asking<Given, Answers>();
  return {
    accept: (posts: readonly Post[]) => {
      const bytes = new Uint8Array(posts.reduce((total, { body }) => total + body.length, 0));
      return ask('accept', [now(), pack(posts, bytes)], [bytes.buffer]);
    },
    /** Rejects with the reason when they could not be counted. */
    countRejected: (...given: Parameters<DoorPort['countRejected']>) =>
      ask('countRejected', [now(), ...given]),
    /** Resolves when the database takes a write at present; rejects with the reason when it does not. */
    checkWritable: async () => {
      const obstacle = await ask('findObstacle', [now()]);
      if (obstacle !== null) throw new Error(obstacle.message);
    },
    /** Says that the receiver lives, and answers who else does. */
    heartbeat: (...given: Parameters<DoorPort['heartbeat']>) => ask('heartbeat', [now(), ...given]),
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
