import { type ControlClient, ControlError, createControlClient } from '../../../sandbox/control/client.js';
import type { Context } from '../../context.js';
import { CommandFault, EXIT, type ExitCode, usageFault } from '../../exit.js';
import { text } from '../../options.js';
import { isOnThisMachine } from '../../this-machine.js';

export const SANDBOX_URL = text(
  'url',
  'where the sandbox is (default: REGISTRY_BASE_URL, else SANDBOX_PORT of this machine)',
);

const EXIT_BY_STATUS: Readonly<Record<number, ExitCode>> = {
  400: EXIT.usage,
  403: EXIT.notAuthorized,
  404: EXIT.notThere,
  409: EXIT.checkFailed,
};

/** The control API of the sandbox that is meant: named, or the one of the settings, or the usual one. */
export function reachSandbox(context: Context, named: string | undefined) {
  const url = sandboxUrl(context, named);
  const client = createControlClient(url);
  const control: ControlClient = (...asked) => client(...asked).catch(error => refuse(error, url));
  return { url, control };
}

function sandboxUrl({ settings }: Context, named: string | undefined): string {
  if (named !== undefined) return demandLoopback(named, '--url');
  const { REGISTRY_BASE_URL: base, SANDBOX_PORT: port } = settings().env;
  return base ? demandLoopback(base, 'REGISTRY_BASE_URL') : `http://127.0.0.1:${port || '8090'}`;
}

/** What is said to a sandbox must not reach a real registry. */
function demandLoopback(url: string, from: string): string {
  if (isOnThisMachine(url)) return url;
  throw usageFault(
    `${from} is not an address of this machine, and a sandbox answers only this machine.`,
    'Say where it is with --url, as in --url http://127.0.0.1:8090.',
  );
}

function refuse(error: unknown, url: string): never {
  if (error instanceof ControlError) {
    const exitCode = EXIT_BY_STATUS[error.statusCode] ?? EXIT.unreachable;
    throw new CommandFault(exitCode, `The sandbox: ${error.message}`);
  }
  if (error instanceof SyntaxError)
    throw new CommandFault(
      EXIT.unreachable,
      `Something answers at ${url}, but it is not a sandbox.`,
      'Say where it is with --url.',
    );
  if (!(error instanceof TypeError)) throw error;
  const advice = 'Start one with "carbon-mirror sandbox start", or say where it is with --url.';
  throw new CommandFault(EXIT.unreachable, `No sandbox answers at ${url}.`, advice);
}
