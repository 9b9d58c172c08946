import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { StoreFailure } from '../inbox/delivery.js';
import type { LivingProcess, Pulse } from '../inbox/process.js';
import type { Refusal } from '../inbox/refusal.js';
import type { PostEnd, Post } from './posts.js';

export interface DoorThread {
  /** Verify and store; one outcome for each. */
  accept(posts: readonly Post[]): Promise<readonly PostEnd[]>;
  /** Rejects with the reason when they could not be counted. */
  countRefusals(refusals: readonly Refusal[]): Promise<void>;
  /** Resolves when the database takes a write at present; rejects with the reason when it does not. */
  checkWritable(): Promise<void>;
  /** Says that the receiver lives, and answers who else does. */
  signOfLife(self: LivingProcess): Promise<Pulse>;
  close(): Promise<void>;
}

export interface DoorThreadOptions {
  /** What runs in the thread, and what that is started with. */
  readonly entry: URL;
  readonly workerData: object;
  readonly now: () => number;
  /** The thread ended by itself; nothing can be stored any more. */
  readonly failed: (error: Error) => void;
  /** A connection to the database was lost while nobody waited for an answer. */
  readonly lost: (failure: StoreFailure) => void;
}

/** Many posts in one piece of memory, which changes hands without being copied. */
export interface PackedPosts {
  readonly bytes: Uint8Array;
  /** Where each body ends. */
  readonly ends: readonly number[];
  readonly signatures: readonly (string | null)[];
  readonly receivedAt: readonly number[];
}

/** What the thread is asked, and what it answers. */
export interface Given {
  readonly accept: PackedPosts;
  readonly signOfLife: LivingProcess;
  readonly countRefusals: readonly Refusal[];
  readonly findObstacle: null;
  readonly close: null;
}

export interface Answers {
  readonly accept: readonly PostEnd[];
  readonly signOfLife: Pulse;
  readonly countRefusals: void;
  readonly findObstacle: StoreFailure | null;
  readonly close: void;
}

export type Name = keyof Given;

export interface ThreadRequest {
  readonly id: number;
  readonly now: number;
  readonly name: Name;
  readonly given: Given[Name];
}

export type ThreadAnswer =
  | { readonly id: number; readonly answer: Answers[Name] }
  | { readonly id: number; readonly obstacle: string };

/** What it says unasked. */
export interface ThreadNews {
  readonly lost: StoreFailure;
}

interface Pending {
  readonly resolve: (answer: never) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Signatures and the database in a thread of their own: neither a flush to disk nor a wait for a lock
 * stops the receiver from reading and answering.
 */
export async function startDoorThread(options: DoorThreadOptions): Promise<DoorThread> {
  const { entry, workerData, now, failed, lost } = options;
  const worker = new Worker(entry, { workerData, env: {} });
  const exited = new Promise<void>(resolve => {
    worker.once('exit', () => resolve());
  });
  await started(worker, exited);

  const pending = new Map<number, Pending>();
  let calls = 0;
  let closing = false;
  worker.on(
    'message',
    (message: ThreadNews | { id: number; answer: never } | { id: number; obstacle: string }) => {
      if ('lost' in message) return lost(message.lost);
      const asked = pending.get(message.id);
      pending.delete(message.id);
      if ('obstacle' in message) asked?.reject(new Error(message.obstacle));
      else asked?.resolve(message.answer);
    },
  );
  worker.on('error', end);
  worker.on('exit', code => end(new Error(`the thread that stores deliveries ended with ${code}`)));

  function end(error: Error): void {
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
    if (closing) return;
    closing = true;
    failed(error);
  }

  function ask<Each extends Name>(
    name: Each,
    given: Given[Each],
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<Answers[Each]> {
    if (closing) return Promise.reject(new Error('the thread that stores deliveries has ended'));
    return new Promise((resolve, reject) => {
      const request: ThreadRequest = { id: calls++, now: now(), name, given };
      pending.set(request.id, { resolve, reject });
      worker.postMessage(request, transfer);
    });
  }

  return {
    accept: posts => {
      const bytes = new Uint8Array(posts.reduce((total, { body }) => total + body.length, 0));
      return ask('accept', pack(posts, bytes), [bytes.buffer]);
    },
    countRefusals: refusals => ask('countRefusals', refusals),
    checkWritable: async () => {
      const obstacle = await ask('findObstacle', null);
      if (obstacle !== null) throw new Error(obstacle.message);
    },
    signOfLife: self => ask('signOfLife', self),
    close: async () => {
      if (!closing) {
        const closed = ask('close', null);
        closing = true;
        await closed;
      }
      await exited;
    },
  };
}

/** Its first message says whether it could open the database. If not, it ends by itself: to be stopped in its driver would end the process. */
async function started(worker: Worker, exited: Promise<void>): Promise<void> {
  const [first]: ({ obstacle: string } | null)[] = await once(worker, 'message');
  if (first === null || first === undefined) return;
  await exited;
  throw new Error(first.obstacle);
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
