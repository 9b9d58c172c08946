import { join, resolve } from 'node:path';
import { makePrivateFolder } from '../../../folder.js';
import type { SandboxOptions } from '../../../sandbox/options.js';
import type { Sandbox } from '../../../sandbox/sandbox.js';
import { command } from '../../command.js';
import type { Context } from '../../context.js';
import { usageFault } from '../../exit.js';
import type { Io } from '../../io.js';
import { formatCount } from '../../../text/numbers.js';
import { dataFolder } from '../../mirror-location.js';
import { choice, count, flag, readNumber, text, texts } from '../../options.js';
import { aborted } from '../../processes/service.js';

const DEFAULT_PORT = '8090';
/** Of a world whose size is told and whose number is not. */
const SEED = 1;

export const START = command({
  says: 'Start a sandbox; it runs until it is stopped, and the next start goes on from there',
  options: {
    port: text('n', `port to listen on, 0 for any free one (default: SANDBOX_PORT, else ${DEFAULT_PORT})`),
    folder: text('path', 'where its data stands (default: sandbox in DATA_DIR)'),
    seed: count(
      '--seed',
      'begin with the made-up world of this number; the same number gives the same world',
    ),
    organizations: count('--organizations', 'how many organizations the world has'),
    credits: count('--credits', 'so many credits'),
    retirements: count('--retirements', 'so many retirements'),
    strict: flag('refuse calls without a version header, and JWTs without iat or alg'),
    profile: choice('name', 'answer as the public documentation shows it, where the sandbox is kinder', [
      'as-documented',
    ]),
    name: texts('host', 'host names at which a proxy offers its install page'),
  },
  prints: { json: 'print where it is as JSON' },
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
    const seed = given.seed ?? (isSized ? SEED : undefined);
    const folder = resolve(given.folder ?? join(dataFolder(io.env), 'sandbox'));
    const options = {
      port: readPort(given.port, io),
      folder,
      headerPrefix: readPrefix(io),
      strict,
      ...(installPageHosts && { installPageHosts }),
      ...(profile && { profile }),
      ...(seed !== undefined && { seed }),
      ...(isSized && { world }),
    };
    const interrupted = io.interruption();
    const sandbox = await open(options);
    try {
      const { url, port } = sandbox;
      await context.print(context.format === 'json' ? JSON.stringify({ url, port, folder }) : url);
      introduce(context, sandbox, options);
      io.tellParent({ ready: 'sandbox', port });
      await aborted(interrupted);
    } finally {
      await sandbox.close();
    }
  },
});

function readPort(given: string | undefined, { env }: Io): number {
  const from = given === undefined ? 'SANDBOX_PORT' : '--port';
  const port = readNumber(from, given ?? (env['SANDBOX_PORT'] || DEFAULT_PORT));
  if (port <= 65_535) return port;
  throw usageFault(`Expected a port from 0 to 65535, got "${port}".`);
}

function readPrefix({ env }: Io): string {
  const prefix = env['REGISTRY_HEADER_PREFIX'] || 'registry';
  if (/^[a-z][a-z0-9-]{0,40}$/i.test(prefix)) return prefix;
  throw usageFault(`REGISTRY_HEADER_PREFIX: expected a plain word, got "${prefix}".`);
}

type Asked = SandboxOptions & { readonly folder: string };

async function open(asked: Asked): Promise<Sandbox> {
  const { startSandbox } = await import('../../../sandbox/start.js');
  const { listenForPeople: listen } = await import('../../../webhook/listen.js');
  try {
    makePrivateFolder(asked.folder);
    return await startSandbox({ ...asked, listen });
  } catch (error) {
    const isError = error instanceof Error && !('code' in error);
    const isRefusal = isError && (error.constructor === Error || error instanceof RangeError);
    const advice = 'Leave --seed and the sizes out, or choose another --folder.';
    throw isRefusal ? usageFault(`${error.message}.`, advice) : error;
  }
}

function introduce({ say }: Context, { url, registry }: Sandbox, { folder, strict, headerPrefix }: Asked) {
  const organizations = registry.organizations.listAll().length;
  const apps = formatCount(registry.apps.list().length, 'app');
  say(
    `This is a SANDBOX: a made-up registry on this machine at ${url}.`,
    `It holds ${formatCount(organizations, 'organization')} and ${apps}, in ${folder}.`,
    `Version header x-${headerPrefix}-api-version${strict ? ', refused where it is missing' : ''}.`,
  );
  if (organizations === 0) say('It is empty: stop it and start it with --seed 1 to begin with a world.');
  say('In a second shell, "carbon-mirror sandbox --help" shows what can be done with it. Ctrl-C stops it.');
}
