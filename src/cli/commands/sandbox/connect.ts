import { type ControlClient, ControlError } from '../../../sandbox/control/control-client.js';
import type { CommandContext } from '../../context.js';
import { EXIT, type ExitCode } from '../../exit.js';
import { CommandError, createUsageError } from '../../command-error.js';
import { isLoopbackUrl } from '../../../text/loopback.js';
import { defineText } from '../../options.js';
import { findSandbox } from '../demo/demo-sandbox.js';

export const SANDBOX_URL_OPTION = defineText(
  'url',
  'URL of the sandbox (default: REGISTRY_BASE_URL, else SANDBOX_PORT on this machine)',
);

const EXIT_CODES_BY_STATUS: Readonly<Record<number, ExitCode>> = {
  400: EXIT.usage,
  403: EXIT.notAuthorized,
  404: EXIT.notFound,
  409: EXIT.checkFailed,
};

/** Returns the URL and the control API of a running sandbox. Throws if no sandbox responds. */
export async function connectToSandbox(context: CommandContext, urlOption: string | undefined) {
  const url = getSandboxUrl(context, urlOption);
  const call = await findSandbox(url);
  if (call === null)
    throw new CommandError(
      EXIT.unreachable,
      `No sandbox answers at ${url}.`,
      'Start one with "carbon-mirror sandbox start", or give its URL with --url.',
    );
  const control: ControlClient = (...request) => call(...request).catch(throwCommandError);
  return { url, control };
}

/** Returns the URL of the sandbox from `--url`, else from REGISTRY_BASE_URL, else from SANDBOX_PORT. */
function getSandboxUrl({ findMirror }: CommandContext, urlOption: string | undefined): string {
  if (urlOption !== undefined) return requireLoopbackUrl(urlOption, '--url');
  const { REGISTRY_BASE_URL: registryUrl, SANDBOX_PORT: port } = findMirror().env;
  return registryUrl
    ? requireLoopbackUrl(registryUrl, 'REGISTRY_BASE_URL')
    : `http://127.0.0.1:${port || '8090'}`;
}

/** Returns the URL unchanged if it points to this machine. Throws an error with the name of the setting for any other URL. */
function requireLoopbackUrl(url: string, settingName: string): string {
  if (isLoopbackUrl(url)) return url;
  // Another URL may belong to a real registry.
  throw createUsageError(
    `${settingName} is not a URL on this machine. A sandbox is only reachable from its own machine.`,
    'Give its URL with --url, such as --url http://127.0.0.1:8090.',
  );
}

/** Converts an error of the control API to a `CommandError` and throws it. Rethrows any other error. */
function throwCommandError(error: unknown): never {
  if (!(error instanceof ControlError)) throw error;
  const exitCode = EXIT_CODES_BY_STATUS[error.statusCode] ?? EXIT.unreachable;
  throw new CommandError(exitCode, `The sandbox: ${error.message}`);
}
