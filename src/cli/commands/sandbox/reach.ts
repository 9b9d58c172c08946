import { type ControlClient, ControlError } from '../../../sandbox/control/client.js';
import type { Context } from '../../context.js';
import { CommandFault, EXIT, type ExitCode, usageFault } from '../../exit.js';
import { text } from '../../options.js';
import { isOnThisMachine } from '../../this-machine.js';
import { findSandbox } from '../demo/sandbox.js';

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
export async function reachSandbox(context: Context, named: string | undefined) {
  const url = sandboxUrl(context, named);
  const found = await findSandbox(url);
  const advice = 'Start one with "carbon-mirror sandbox start", or say where it is with --url.';
  if (found === null) throw new CommandFault(EXIT.unreachable, `No sandbox answers at ${url}.`, advice);
  const control: ControlClient = (...asked) => found(...asked).catch(refuse);
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

function refuse(error: unknown): never {
  if (!(error instanceof ControlError)) throw error;
  const exitCode = EXIT_BY_STATUS[error.statusCode] ?? EXIT.unreachable;
  throw new CommandFault(exitCode, `The sandbox: ${error.message}`);
}
