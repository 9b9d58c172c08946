import { once } from 'node:events';
import { type MessagePort, Worker } from 'node:worker_threads';

type ThreadFunction = (...given: never[]) => unknown;
type ThreadRequest = { readonly id: number; readonly name: string; readonly given: readonly never[] };
type ThreadResponse =
  | { readonly id: number; readonly answer: never }
  | { readonly id: number; readonly fault: SerializedError };
type PendingCall = { readonly resolve: (answer: never) => void; readonly reject: (error: Error) => void };

/** An error as it was thrown in the thread. */
export type SerializedError = { readonly code: string; readonly message: string; readonly stack: string };

export interface ThreadOptions {
  readonly entry: URL;
  readonly workerData: object;
  /** As in `the thread that stores deliveries`. */
  readonly description: string;
  /** It ended by itself; nothing can be done any more. */
  readonly onFailed: (error: Error) => void;
  /** What it says unasked. */
  readonly onNotice?: (news: never) => void;
  readonly restoreError?: (fault: SerializedError) => Error;
}

/** Asks for one of the works by its name. */
type CallThread<Works> = <Name extends keyof Works & string>(
  name: Name,
  given: Works[Name] extends (...given: infer Given) => unknown ? Given : never,
  transfer?: readonly ArrayBuffer[],
) => Promise<Works[Name] extends (...given: never[]) => infer Answer ? Awaited<Answer> : never>;

/** Work that is done in a thread, by the names of what `serveThread` is given there, in the order in which it was asked for. */
export async function startThread<Works>(options: ThreadOptions) {
  const {
    entry,
    workerData,
    description: what,
    onFailed: failed,
    onNotice: news,
    restoreError: errorOf = ({ message }) => new Error(message),
  } = options;
  const worker = new Worker(entry, { workerData, env: {} });
  const exited = new Promise<void>(resolve => void worker.once('exit', () => resolve()));
  const [first]: (SerializedError | null)[] = await once(worker, 'message');
  if (first) {
    await exited;
    throw errorOf(first);
  }
  const pending = new Map<number, PendingCall>();
  let calls = 0;
  let closing = false;
  worker.on('message', (message: ThreadResponse | { readonly news: never }) => {
    if ('news' in message) return news?.(message.news);
    const asked = pending.get(message.id);
    pending.delete(message.id);
    if ('fault' in message) asked?.reject(errorOf(message.fault));
    else asked?.resolve(message.answer);
  });
  worker.on('error', end);
  worker.on('exit', code => end(new Error(`${what} ended with ${code}`)));

  function end(error: Error): void {
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
    if (!closing) failed(error);
    closing = true;
  }

  function send(name: string, given: unknown, transfer: readonly ArrayBuffer[] = []): Promise<never> {
    if (closing) return Promise.reject(new Error(`${what} has ended`));
    const id = calls++;
    const answered = new Promise<never>((resolve, reject) => pending.set(id, { resolve, reject }));
    worker.postMessage({ id, name, given }, transfer);
    return answered;
  }

  const ask: CallThread<Works> = send;
  return {
    ask,
    close: async (): Promise<void> => {
      if (!closing) {
        const closed = send('close', []);
        closing = true;
        await closed;
      }
      await exited;
    },
  };
}

/** In the thread. Where it cannot begin it says why, and ends by itself: to be stopped in its driver would end the process. */
export async function serveThread(port: MessagePort, open: () => object | Promise<object>): Promise<void> {
  try {
    const works = new Map<string, ThreadFunction>(Object.entries(await open()));
    port.on('message', (asked: ThreadRequest) => void answer(port, works, asked));
    port.postMessage(null);
  } catch (error) {
    port.postMessage(faultOf(error));
  }
}

async function answer(
  port: MessagePort,
  works: ReadonlyMap<string, ThreadFunction>,
  asked: ThreadRequest,
): Promise<void> {
  const { id, name, given } = asked;
  try {
    port.postMessage({ id, answer: await (works.get(name) ?? unknown(name))(...given) });
  } catch (error) {
    port.postMessage({ id, fault: faultOf(error) });
  }
  if (name === 'close') port.close();
}

function unknown(name: string): never {
  throw new Error(`nothing in this thread is called ${name}`);
}

function faultOf(error: unknown): SerializedError {
  if (!(error instanceof Error)) return { code: '', message: String(error), stack: '' };
  const { message, stack = '' } = error;
  return { code: 'code' in error ? String(error.code) : '', message, stack };
}
