import { type ControlClient, ControlError } from '../../../sandbox/control/client.js';
import type { CommandContext } from '../../context.js';
import { CommandError, EXIT, type ExitCode, createUsageError } from '../../exit.js';
import { defineText } from '../../options.js';
import { isLoopbackUrl } from '../../loopback.js';
import { findSandbox } from '../demo/sandbox.js';

export const SANDBOX_URL = defineText(
  'url',
  'URL of the sandbox (default: REGISTRY_BASE_URL, else SANDBOX_PORT on this machine)',
);

const EXIT_BY_STATUS: Readonly<Record<number, ExitCode>> = {
  400: EXIT.usage,
  403: EXIT.notAuthorized,
  404: EXIT.notFound,
  409: EXIT.checkFailed,
};

/** The control API of the sandbox that is meant: named, or the one of the settings, or the usual one. */
export async function reachSandbox(context: CommandContext, named: string | undefined) {
  const url = sandboxUrl(context, named);
  const found = await findSandbox(url);
  const advice = 'Start one with "carbon-mirror sandbox start", or give its URL with --url.';
  if (found === null) throw new CommandError(EXIT.unreachable, `No sandbox answers at ${url}.`, advice);
  const control: ControlClient = (...asked) => found(...asked).catch(refuse);
  return { url, control };
}

function sandboxUrl({ findMirror }: CommandContext, named: string | undefined): string {
  if (named !== undefined) return demandLoopback(named, '--url');
  const { REGISTRY_BASE_URL: base, SANDBOX_PORT: port } = findMirror().env;
  return base ? demandLoopback(base, 'REGISTRY_BASE_URL') : `http://127.0.0.1:${port || '8090'}`;
}

/** What is said to a sandbox must not reach a real registry. */
function demandLoopback(url: string, from: string): string {
  if (isLoopbackUrl(url)) return url;
  throw createUsageError(
    `${from} is not a URL on this machine. A sandbox is only reachable from its own machine.`,
    'Give its URL with --url, such as --url http://127.0.0.1:8090.',
  );
}

function refuse(error: unknown): never {
  if (!(error instanceof ControlError)) throw error;
  const exitCode = EXIT_BY_STATUS[error.statusCode] ?? EXIT.unreachable;
  throw new CommandError(exitCode, `The sandbox: ${error.message}`);
}
