/**
 * Runs `receive`, `work`, `console` and `api` as child processes, the same commands as in the Procfile, so that a busy worker
 * never stalls the receiver.
 *
 * The children write to our own output. They stop when we stop, even if we are killed, because their channel to us
 * closes. If the receiver or the worker cannot run, all of them are stopped; without a console or an API the others continue.
 */
import { CommandError } from '../command-error.js';
import { type Io, printNotice } from '../io.js';
import { superviseChild } from './supervised-child.js';
import { waitForAbort } from './service.js';

/** The ports on which the service processes listen. */
export interface ServicePorts {
  readonly receiverPort: number;
  /** Null if the console could not be started. */
  readonly consolePort: number | null;
  /** Null if there is no API, because no token exists or it could not be started. */
  readonly apiPort: number | null;
}

interface ServiceProcessesOptions {
  readonly io: Io;
  /** The settings of the child processes. */
  readonly env: Io['env'];
  readonly interrupted: AbortSignal;
  /**
   * Called once when all processes are ready. The receiver may listen on another port than the settings name, so
   * addresses must be made from the port passed here. `stopping` is aborted when the processes are stopped.
   */
  readonly onReady: (ports: ServicePorts, stopping: AbortSignal) => Promise<void>;
  /** Whether the HTTP API is started. It is asked after `prepare`. */
  readonly needsApi: () => Promise<boolean>;
  /** Runs before the receiver and the worker start. The console is already running. */
  readonly prepare?: (stopping: AbortSignal) => Promise<void>;
}

/** Runs receiver, worker, console and API as child processes until an interrupt or failure. */
export async function runServiceProcesses({
  io,
  env,
  interrupted,
  onReady,
  needsApi,
  prepare = async () => undefined,
}: ServiceProcessesOptions): Promise<void> {
  const failure = new AbortController();
  const stopping = AbortSignal.any([interrupted, failure.signal]);
  const optionalProcesses: Promise<void>[] = [];
  const requiredProcesses: Promise<void>[] = [];

  /** Starts the console or API. Returns its port, or null if it failed. A failure does not stop receiver and worker. */
  function startOptionalProcess(role: 'console' | 'api'): Promise<number | null> {
    const child = superviseChild(io, role, env, stopping);
    const ended = child.ended.catch((error: unknown) => {
      if (!(error instanceof CommandError)) throw error;
      printNotice(io, ...error.lines);
    });
    optionalProcesses.push(ended);
    return Promise.race([child.ready, ended.then(() => null)]);
  }

  const consoleReady = startOptionalProcess('console');
  try {
    await prepare(stopping);
    const receiver = superviseChild(io, 'receive', env, stopping);
    const worker = superviseChild(io, 'work', env, stopping);
    requiredProcesses.push(receiver.ended, worker.ended);
    const apiReady = (await needsApi()) ? startOptionalProcess('api') : null;
    const announceWhenReady = async () => {
      const [receiverPort, consolePort, apiPort] = await Promise.all([
        receiver.ready,
        consoleReady,
        apiReady,
        worker.ready,
      ]);
      if (receiverPort === null) throw new Error('the receiver did not report its port');
      await onReady({ receiverPort, consolePort, apiPort }, stopping);
    };
    await Promise.race([announceWhenReady(), ...requiredProcesses]);
    await Promise.race([waitForAbort(interrupted), ...requiredProcesses]);
  } finally {
    failure.abort();
    await Promise.allSettled([...requiredProcesses, ...optionalProcesses]);
  }
}
