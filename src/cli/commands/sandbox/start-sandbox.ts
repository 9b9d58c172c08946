import { join, resolve } from 'node:path';
import { createPrivateFolder } from '../../../folder.js';
import type { SandboxOptions } from '../../../sandbox/options.js';
import type { Sandbox } from '../../../sandbox/sandbox.js';
import { defineCommand } from '../../define-command.js';
import type { CommandContext } from '../../context.js';
import { createUsageError } from '../../command-error.js';
import type { Io } from '../../io.js';
import { formatCount } from '../../../text/numbers.js';
import { getDataFolder } from '../../mirror-location.js';
import {
  defineChoice,
  defineFlag,
  parseWholeNumber,
  defineText,
  defineTextList,
  defineWholeNumber,
} from '../../options.js';
import { waitForAbort } from '../../processes/service.js';

const DEFAULT_PORT = '8090';
/** The seed of generated data if only its size is given. */
const DEFAULT_SEED = 1;

export const START = defineCommand({
  summary: 'Start the sandbox registry',
  details: [
    'Runs until it is stopped. The next start resumes with the same data.',
    'Set REGISTRY_HEADER_PREFIX=icr to use the header names of the public registry.',
  ].join(' '),
  options: {
    port: defineText(
      'n',
      `port to listen on; 0 for any free port (default: SANDBOX_PORT, else ${DEFAULT_PORT})`,
    ),
    folder: defineText('path', 'data folder (default: sandbox in DATA_DIR)'),
    seed: defineWholeNumber(
      '--seed',
      'start with generated data; the same number always gives the same data',
    ),
    organizations: defineWholeNumber('--organizations', 'number of organizations to generate'),
    credits: defineWholeNumber('--credits', 'number of credits to generate'),
    retirements: defineWholeNumber('--retirements', 'number of retirements to generate'),
    strict: defineFlag('refuse calls without a version header, and JWTs without iat or alg'),
    profile: defineChoice('name', 'answer strictly as the public documentation shows', ['as-documented']),
    name: defineTextList('host', 'host names under which a proxy serves the install page'),
  },
  formats: { json: 'print URL, port and folder as JSON' },
  examples: [
    'carbon-mirror sandbox start --seed 1',
    'carbon-mirror sandbox start --folder big --retirements 1000000 --credits 200000',
  ],
  run: async (
    context,
    { organizations, credits, retirements, name: installPageHosts, profile, strict, ...given },
  ) => {
    const { io } = context;
    const sizes = Object.entries({ organizations, credits, retirements });
    const world = Object.fromEntries(sizes.filter(([, size]) => size !== undefined));
    const isSized = Object.keys(world).length > 0;
    const seed = given.seed ?? (isSized ? DEFAULT_SEED : undefined);
    const folder = resolve(given.folder ?? join(getDataFolder(io.env), 'sandbox'));
    const options = {
      port: parsePort(given.port, io),
      folder,
      headerPrefix: getHeaderPrefix(io),
      strict,
      ...(installPageHosts && { installPageHosts }),
      ...(profile && { profile }),
      ...(seed !== undefined && { seed }),
      ...(isSized && { world }),
    };
    const interrupted = io.createInterruptSignal();
    const sandbox = await startSandboxInFolder(options);
    try {
      const { url, port } = sandbox;
      await context.printLines(context.format === 'json' ? JSON.stringify({ url, port, folder }) : url);
      printIntroduction(context, sandbox, options);
      io.sendToParent({ ready: 'sandbox', port });
      await waitForAbort(interrupted);
    } finally {
      await sandbox.close();
    }
  },
});

/** Returns the port from `--port`, else from SANDBOX_PORT, else the default. Throws if it is not a valid port. */
function parsePort(option: string | undefined, { env }: Io): number {
  const settingName = option === undefined ? 'SANDBOX_PORT' : '--port';
  const port = parseWholeNumber(settingName, option ?? (env['SANDBOX_PORT'] || DEFAULT_PORT));
  if (port <= 65_535) return port;
  throw createUsageError(`Expected a port from 0 to 65535, got "${port}".`);
}

/** Returns the prefix of the sandbox's HTTP headers from REGISTRY_HEADER_PREFIX, or the default. */
function getHeaderPrefix({ env }: Io): string {
  const prefix = env['REGISTRY_HEADER_PREFIX'] || 'registry';
  if (/^[a-z][a-z0-9-]{0,40}$/i.test(prefix)) return prefix;
  throw createUsageError(
    `REGISTRY_HEADER_PREFIX: expected a word of letters, digits and -, got "${prefix}".`,
  );
}

type FolderSandboxOptions = SandboxOptions & { readonly folder: string };

/** Starts the sandbox with the data in a folder. */
async function startSandboxInFolder(options: FolderSandboxOptions): Promise<Sandbox> {
  const { startSandbox } = await import('../../../sandbox/start.js');
  const { listenForPeople: listen } = await import('../../../webhook/http-listener.js');
  try {
    createPrivateFolder(options.folder);
    return await startSandbox({ ...options, listen });
  } catch (error) {
    // The sandbox refuses options that conflict with existing data.
    const isError = error instanceof Error && !('code' in error);
    const isRefusal = isError && (error.constructor === Error || error instanceof RangeError);
    const advice = 'Remove --seed and the sizes, or choose another --folder.';
    throw isRefusal ? createUsageError(`${error.message}.`, advice) : error;
  }
}

/** Prints where the sandbox runs, what it contains and how to use it. */
function printIntroduction(
  { printNotice }: CommandContext,
  { url, registry }: Sandbox,
  { folder, strict, headerPrefix }: FolderSandboxOptions,
) {
  const organizations = registry.organizations.listAll().length;
  const apps = formatCount(registry.apps.list().length, 'app');
  printNotice(
    `This is a SANDBOX: a made-up registry on this machine at ${url}.`,
    `It has ${formatCount(organizations, 'organization')} and ${apps}. Its data is in ${folder}.`,
    `Version header: x-${headerPrefix}-api-version${strict ? ' (required)' : ''}.`,
  );
  if (organizations === 0)
    printNotice('It is empty. To start with generated data, stop it and add --seed 1.');
  printNotice('Run "carbon-mirror sandbox --help" in a second shell to see what it can do. Ctrl-C stops it.');
}
