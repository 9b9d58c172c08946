import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { LivingProcess, Pulse } from '../inbox/process.js';
import type { Refusal } from '../inbox/refusal.js';
import { builtBeside } from '../package.js';
import type { Outcome, Post } from './posts.js';

export interface DoorThread {
  /** Verify and store; one outcome for each. */
  accept(posts: readonly Post[]): Promise<readonly Outcome[]>;
  /** Rejects with the reason when they could not be counted. */
  countRefusals(refusals: readonly Refusal[]): Promise<void>;
  /** Resolves when the database takes a write at present; rejects with the reason when it does not. */
  checkWritable(): Promise<void>;
  /** Says that the receiver lives, and answers who else does. */
  signOfLife(self: LivingProcess): Promise<Pulse>;
  close(): Promise<void>;
}

/** What the thread is started with. */
export interface DoorThreadData {
  /** An inbox.db that has been migrated. */
  readonly file: string;
  readonly busyTimeoutMs: number;
  readonly secrets: readonly string[];
  readonly appId: string;
}

export interface DoorThreadOptions extends DoorThreadData {
  readonly now: () => number;
  /** The thread ended by itself; nothing can be stored any more. */
  readonly failed: (error: Error) => void;
  readonly entry?: URL;
}

/** Many posts in one piece of memory, which changes hands without being copied. */
export interface PackedPosts {
  readonly kind: 'accept';
  readonly bytes: Uint8Array;
  /** Where each body ends. */
  readonly ends: readonly number[];
  readonly signatures: readonly (string | null)[];
  readonly receivedAt: readonly number[];
  readonly now: number;
}

export interface SignRequest {
  readonly kind: 'sign';
  readonly self: LivingProcess;
  readonly now: number;
}

export type ThreadRequest =
  | PackedPosts
  | SignRequest
  | { readonly kind: 'refusals'; readonly refusals: readonly Refusal[] }
  | { readonly kind: 'check' }
  | { readonly kind: 'close' };
export type ThreadAnswer = readonly Outcome[] | { readonly obstacle: string } | { readonly pulse: Pulse };

interface Pending {
  readonly resolve: (answer: ThreadAnswer) => void;
  readonly reject: (error: Error) => void;
}

const ENTRY = builtBeside(import.meta.url, './thread-worker.js');

/**
 * Signatures and the database in a thread of their own: neither a flush to disk nor a wait for a lock
 * stops the receiver from reading and answering. Requests are answered in their order.
 */
export async function startDoorThread(options: DoorThreadOptions): Promise<DoorThread> {
  const { file, busyTimeoutMs, secrets, appId, now, failed, entry = ENTRY } = options;
  const workerData: DoorThreadData = { file, busyTimeoutMs, secrets, appId };
  const worker = new Worker(entry, { workerData, env: {} });
  await started(worker);
  const exited = new Promise<void>(resolve => {
    worker.once('exit', () => resolve());
  });

  const pending: Pending[] = [];
  let closing = false;
  worker.on('message', (answer: ThreadAnswer) => pending.shift()?.resolve(answer));
  worker.on('error', end);
  worker.on('exit', code => end(new Error(`the thread that stores deliveries ended with ${code}`)));

  function end(error: Error): void {
    for (const { reject } of pending.splice(0)) reject(error);
    if (closing) return;
    closing = true;
    failed(error);
  }

  function ask(request: ThreadRequest, transfer: readonly ArrayBuffer[] = []): Promise<ThreadAnswer> {
    if (closing) return Promise.reject(new Error('the thread that stores deliveries has ended'));
    return new Promise((resolve, reject) => {
      pending.push({ resolve, reject });
      worker.postMessage(request, transfer);
    });
  }

  async function demand(request: ThreadRequest): Promise<void> {
    const answer = await ask(request);
    if ('obstacle' in answer) throw new Error(answer.obstacle);
  }

  return {
    accept: async posts => {
      const bytes = new Uint8Array(posts.reduce((total, { body }) => total + body.length, 0));
      const answer = await ask(pack(posts, bytes, now()), [bytes.buffer]);
      return 'length' in answer ? answer : [];
    },
    countRefusals: refusals => demand({ kind: 'refusals', refusals }),
    checkWritable: () => demand({ kind: 'check' }),
    signOfLife: async self => {
      const answer = await ask({ kind: 'sign', self, now: now() });
      if ('pulse' in answer) return answer.pulse;
      throw new Error('obstacle' in answer ? answer.obstacle : 'expected a pulse, got none');
    },
    close: async () => {
      if (!closing) {
        const answered = ask({ kind: 'close' });
        closing = true;
        await answered;
      }
      await exited;
    },
  };
}

/** Its first message says whether it could open the database. */
async function started(worker: Worker): Promise<void> {
  const [first]: ThreadAnswer[] = await once(worker, 'message');
  if (first === undefined || !('obstacle' in first)) return;
  await worker.terminate();
  throw new Error(first.obstacle);
}

function pack(posts: readonly Post[], bytes: Uint8Array, now: number): PackedPosts {
  let end = 0;
  const ends = posts.map(({ body }) => {
    bytes.set(body, end);
    end += body.length;
    return end;
  });
  const signatures = posts.map(({ signature }) => signature);
  const receivedAt = posts.map(post => post.receivedAt);
  return { kind: 'accept', bytes, ends, signatures, receivedAt, now };
}

/** In the thread: the posts as they were, each body a view of the one piece of memory. */
export function unpack({ bytes, ends, signatures, receivedAt, now }: PackedPosts): Post[] {
  return ends.map((end, index) => ({
    body: bytes.subarray(ends[index - 1] ?? 0, end),
    signature: signatures[index] ?? null,
    receivedAt: receivedAt[index] ?? now,
  }));
}
