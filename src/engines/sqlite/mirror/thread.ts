import { once } from 'node:events';
import { setImmediate as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Sqlite } from '../open.js';
import { MIRROR_ERROR_CODES, MirrorError } from '../../../mirror/errors.js';
import type { Insert, MirrorPort } from '../../../mirror/port.js';
import { builtBeside } from '../../../package.js';
import { createCall } from './mirror.js';
import { type Answers, type Given, type Name, portOf } from './operations.js';

/** What the thread is started with. */
export interface MirrorThreadData {
  /** A mirror.db that has been migrated. */
  readonly file: string;
  readonly busyTimeoutMs: number;
  /** The folder of certificate files. */
  readonly certificates: string;
}

export interface MirrorThreadOptions extends MirrorThreadData {
  /** A connection of this thread, for what only looks. Who opened it closes it, after the port. */
  readonly reader: Sqlite;
  /** The thread ended by itself; nothing can be written any more. */
  readonly failed: (error: Error) => void;
  readonly entry?: URL;
}

interface ThreadCall {
  readonly id: number;
  readonly name: Name;
  readonly given: Given[Name];
}

/** Some of the rows of a commit that follows: to copy all at once would hold up whoever sends them. */
export interface ThreadPart {
  readonly part: readonly Insert[];
  readonly of: number;
}

export interface ThreadCommit {
  readonly id: number;
  /** Its rows came before, as parts of this. */
  readonly of: number;
  readonly commit: Given['commit'];
}

export type ThreadRequest = ThreadCall | ThreadPart | ThreadCommit;

export interface ThreadFault {
  readonly code: string;
  readonly message: string;
  readonly stack: string;
}

export type ThreadAnswer =
  | { readonly id: number; readonly answer: Answers[Name] }
  | { readonly id: number; readonly fault: ThreadFault };

interface Pending {
  readonly resolve: (answer: never) => void;
  readonly reject: (error: Error) => void;
}

const ROWS_A_MESSAGE = 200;
const ENTRY = builtBeside(import.meta.url, './mirror-thread.js');

/** Operations that only look: nobody waits for these, so they are done at once on the reader. */
const LOOKS: ReadonlySet<Name> = new Set<Name>([
  'highestClaim',
  'findInstallation',
  'listInstallations',
  'lastReads',
  'lastListed',
  'begin',
  'pages',
  'find',
  'after',
  'forgottenPeople',
  'dueProjects',
  'dueCertificates',
  'filledSince',
  'announcements',
  'watchedResources',
]);

/**
 * The port with a thread of its own for all that writes: neither a long transaction nor a flush to disk, nor a wait for a
 * lock, stops the worker from reading the registry. Writes are done in the order in which they were asked for; what only
 * looks sees every write that was answered.
 */
export async function startMirrorThread(options: MirrorThreadOptions): Promise<MirrorPort> {
  const { file, busyTimeoutMs, certificates, reader, failed, entry = ENTRY } = options;
  const workerData: MirrorThreadData = { file, busyTimeoutMs, certificates };
  const worker = new Worker(entry, { workerData, env: {} });
  const exited = new Promise<void>(resolve => {
    worker.once('exit', () => resolve());
  });
  await started(worker, exited);

  const look = createCall(reader, certificates);
  const pending = new Map<number, Pending>();
  let calls = 0;
  let parts = 0;
  let closing = false;
  worker.on('message', (message: { id: number; answer: never } | { id: number; fault: ThreadFault }) => {
    const asked = pending.get(message.id);
    pending.delete(message.id);
    if ('fault' in message) asked?.reject(errorOf(message.fault));
    else asked?.resolve(message.answer);
  });
  worker.on('error', end);
  worker.on('exit', code => end(new Error(`the thread that writes the mirror ended with ${code}`)));

  function end(error: Error): void {
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
    if (closing) return;
    closing = true;
    failed(error);
  }

  async function commit(...[run, changes, ending]: Given['commit']): Promise<Answers['commit']> {
    const of = parts++;
    for (let start = 0; start < changes.inserts.length; start += ROWS_A_MESSAGE) {
      if (closing) break;
      const message: ThreadPart = { part: changes.inserts.slice(start, start + ROWS_A_MESSAGE), of };
      worker.postMessage(message, []);
      await pause();
    }
    const id = calls++;
    const request: ThreadCommit = { id, of, commit: [run, { ...changes, inserts: [] }, ending] };
    if (!closing) worker.postMessage(request, []);
    return answerTo(id);
  }

  function ask<Each extends Name>(name: Each, given: Given[Each]): Promise<Answers[Each]> {
    const id = calls++;
    const request: ThreadCall = { id, name, given };
    if (!closing) worker.postMessage(request, []);
    return answerTo(id);
  }

  function answerTo<Answer>(id: number): Promise<Answer> {
    if (closing) return Promise.reject(new Error('the thread that writes the mirror has ended'));
    return new Promise((resolve, reject) => pending.set(id, { resolve, reject }));
  }

  return {
    ...portOf((name, given) => (LOOKS.has(name) ? look : ask)(name, given)),
    commit,
    close: async () => {
      if (!closing) {
        const closed = ask('close', []);
        closing = true;
        await closed;
      }
      await exited;
    },
  };
}

/** Its first message says whether it could open the database. If not, it ends by itself: to be stopped in its driver would end the process. */
async function started(worker: Worker, exited: Promise<void>): Promise<void> {
  const [first]: (ThreadFault | null)[] = await once(worker, 'message');
  if (first === null || first === undefined) return;
  await exited;
  throw errorOf(first);
}

/** As it was thrown in the thread, and where: who catches it goes by its code. */
function errorOf({ code, message, stack }: ThreadFault): Error {
  const known = MIRROR_ERROR_CODES.find(each => each === code);
  if (known !== undefined) return Object.assign(new MirrorError(known, message), { stack });
  return Object.assign(new Error(message), { stack }, code === '' ? {} : { code });
}
