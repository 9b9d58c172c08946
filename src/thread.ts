/**
 * Calls functions in a worker thread by name. `startThread` runs in the caller and `serveThread` in the thread; calls are
 * started in the order in which they were made. The thread gets no environment variables.
 */
import { once } from 'node:events';
import { type MessagePort, Worker } from 'node:worker_threads';

type ThreadFunction = (...parameters: never[]) => unknown;

/** A call, as it is sent to the thread. */
type ThreadRequest = { readonly id: number; readonly name: string; readonly parameters: readonly never[] };

/** The result or the error of one call. */
type ThreadResponse =
  | { readonly id: number; readonly result: never }
  | { readonly id: number; readonly error: SerializedError };

/** A message that the thread sends without being called. */
type ThreadNotice = { readonly notice: never };

/** The promise of a call that has not been answered. */
type PendingCall = { readonly resolve: (result: never) => void; readonly reject: (error: Error) => void };

/** An error in a form that can be sent between threads. */
type SerializedError = {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /** Null if the error has no code. */
  readonly code: string | null;
};

export interface ThreadOptions {
  /** The module that the thread runs. */
  readonly entry: URL;
  readonly workerData: object;
  /** A noun phrase for error messages, such as `the thread that stores deliveries`. */
  readonly description: string;
  /** Called when the thread ends although nobody closed it. Pending and later calls reject. */
  readonly onFailed: (error: Error) => void;
  /** Called with each message that the thread sends without being called. */
  readonly onNotice?: (notice: never) => void;
}

/** Calls a function of the thread by name. Buffers in `transfer` are moved instead of copied. */
type CallThread<Api> = <Name extends keyof Api & string>(
  name: Name,
  parameters: Api[Name] extends (...parameters: infer Parameters) => unknown ? Parameters : never,
  transfer?: readonly ArrayBuffer[],
) => Promise<Api[Name] extends (...parameters: never[]) => infer Result ? Awaited<Result> : never>;

/** Starts a worker thread. Returns `call`, which runs a function of `Api` in the thread. */
export async function startThread<Api>(options: ThreadOptions) {
  const { entry, workerData, description, onFailed, onNotice } = options;
  const worker = new Worker(entry, { workerData, env: {} });
  const exited = new Promise<void>(resolve => void worker.once('exit', () => resolve()));
  const [startError]: (SerializedError | null)[] = await once(worker, 'message');
  if (startError) {
    await exited;
    throw restoreError(startError);
  }
  const pendingCalls = new Map<number, PendingCall>();
  let nextId = 0;
  let isClosing = false;
  worker.on('message', (message: ThreadResponse | ThreadNotice) => {
    if ('notice' in message) return onNotice?.(message.notice);
    const call = pendingCalls.get(message.id);
    pendingCalls.delete(message.id);
    if ('error' in message) call?.reject(restoreError(message.error));
    else call?.resolve(message.result);
  });
  worker.on('error', handleExit);
  worker.on('exit', code => handleExit(new Error(`${description} ended with ${code}`)));

  /** Rejects all pending calls when the thread has ended. */
  function handleExit(error: Error): void {
    for (const { reject } of pendingCalls.values()) reject(error);
    pendingCalls.clear();
    if (!isClosing) onFailed(error);
    isClosing = true;
  }

  /** Sends a call to the thread. Returns a promise of the result. */
  function send(name: string, parameters: unknown, transfer: readonly ArrayBuffer[] = []): Promise<never> {
    if (isClosing) return Promise.reject(new Error(`${description} has ended`));
    const id = nextId++;
    const response = new Promise<never>((resolve, reject) => pendingCalls.set(id, { resolve, reject }));
    worker.postMessage({ id, name, parameters }, transfer);
    return response;
  }

  const call: CallThread<Api> = send;
  return {
    call,
    close: async (): Promise<void> => {
      if (!isClosing) {
        // The thread's own function `close` runs first, then the thread ends.
        const closed = send('close', []);
        isClosing = true;
        await closed;
      }
      await exited;
    },
  };
}

/**
 * Runs the calls that arrive as messages at `port`. Each call names a function of the object that `open` returns. A
 * call of `close` is the last.
 */
export async function serveThread(port: MessagePort, open: () => object | Promise<object>): Promise<void> {
  try {
    const functions = new Map<string, ThreadFunction>(Object.entries(await open()));
    port.on('message', (request: ThreadRequest) => void answerCall(port, functions, request));
    port.postMessage(null);
  } catch (error) {
    // The thread ends by itself: terminating a thread inside a native database driver would end the process.
    port.postMessage(serializeError(error));
  }
}

/** Runs the requested function and sends the result or the error. */
async function answerCall(
  port: MessagePort,
  functions: ReadonlyMap<string, ThreadFunction>,
  { id, name, parameters }: ThreadRequest,
): Promise<void> {
  try {
    const run = functions.get(name);
    if (run === undefined) throw new Error(`this thread has no function named ${name}`);
    port.postMessage({ id, result: await run(...parameters) });
  } catch (error) {
    port.postMessage({ id, error: serializeError(error) });
  }
  if (name === 'close') port.close();
}

/** Converts an error to an object that can be sent between threads. */
function serializeError(error: unknown): SerializedError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), stack: '', code: null };
  const { name, message, stack = '' } = error;
  return { name, message, stack, code: 'code' in error ? String(error.code) : null };
}

/** Recreates an error of the thread. Its name and code tell callers what failed, as if they had called the function directly. */
function restoreError({ name, message, stack, code }: SerializedError): Error {
  return Object.assign(new Error(message), { name, stack }, code === null ? {} : { code });
}
