import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { makePrivateFolder } from '../../../folder.js';
import type { SandboxOptions } from '../../../sandbox/options.js';
import type { Sandbox } from '../../../sandbox/sandbox.js';
import { examples } from '../../command.js';
import { CommandFault, EXIT } from '../../exit.js';
import { describeSystemFault } from '../../faults/system-fault.js';
import { emit, type Io, say } from '../../io.js';
import { dataFolder } from '../../place/find-place.js';
import { aborted } from '../../processes/service.js';

interface StartOptions {
  readonly port?: string;
  readonly folder?: string;
  readonly seed?: string;
  readonly organizations?: string;
  readonly credits?: string;
  readonly retirements?: string;
  readonly strict?: boolean;
  readonly profile?: string;
  readonly headerPrefix?: string;
  readonly name?: readonly string[];
  readonly json?: boolean;
}

const DEFAULT_PORT = '8090';
/** Of a world whose size is told and whose number is not. */
const SEED = 1;

export function defineStart(sandbox: Command, io: Io): void {
  const command = sandbox
    .command('start', { isDefault: true })
    .description('Start a sandbox; it runs until it is stopped, and the next start goes on from there')
    .usage('[options]')
    .argument('[words...]')
    .option(
      '--port <n>',
      `port to listen on, 0 for any free one (default: SANDBOX_PORT, else ${DEFAULT_PORT})`,
    )
    .option('--folder <path>', 'where its data stands (default: sandbox in DATA_DIR)')
    .option('--seed <n>', 'begin with the made-up world of this number; the same number gives the same world')
    .option('--organizations <n>', 'so many organizations in the world')
    .option('--credits <n>', 'so many credits')
    .option('--retirements <n>', 'so many retirements')
    .option('--strict', 'refuse calls without a version header, and JWTs without iat or alg')
    .option(
      '--profile <name>',
      'as-documented: answer as the public documentation shows it, where the sandbox is kinder',
    )
    .option(
      '--header-prefix <word>',
      'as in x-<word>-api-version; icr for the public registry (default: REGISTRY_HEADER_PREFIX, else registry)',
    )
    .option('--name <host...>', 'further names by which a proxy calls its install page')
    .option('--json', 'print where it is as JSON')
    .action(async (words: readonly string[], options: StartOptions) => await start(io, words, options));
  examples(command, [
    'carbon-mirror sandbox start --seed 1',
    'carbon-mirror sandbox start --port 0 --folder /tmp/registry --strict --header-prefix icr',
    'carbon-mirror sandbox start --folder big --retirements 1000000 --credits 200000',
  ]);
}

async function start(io: Io, words: readonly string[], options: StartOptions): Promise<void> {
  if (words.length > 0) {
    throw new CommandFault(
      EXIT.usage,
      `There is no command "sandbox ${words.join(' ')}".`,
      'See "carbon-mirror sandbox --help".',
    );
  }
  const request = readRequest(io, options);
  const interrupted = io.interruption();
  const sandbox = await open(request);
  try {
    const { url, port, folder } = sandbox;
    await emit(io, options.json ? `${JSON.stringify({ url, port, folder })}\n` : `${url}\n`);
    introduce(io, sandbox, request);
    io.tellParent({ ready: 'sandbox', port });
    await aborted(interrupted);
  } finally {
    await sandbox.close();
  }
}

function readRequest(io: Io, options: StartOptions): SandboxOptions {
  const { organizations, credits, retirements } = options;
  const world = Object.fromEntries(
    Object.entries({ organizations, credits, retirements }).flatMap(([name, text]) =>
      text === undefined ? [] : [[name, readCount(`--${name}`, text)]],
    ),
  );
  const isSized = Object.keys(world).length > 0;
  const seed = options.seed === undefined ? undefined : readCount('--seed', options.seed);
  return {
    port: readPort(options.port, io),
    folder: resolve(options.folder ?? join(dataFolder(io.env), 'sandbox')),
    headerPrefix: readPrefix(options.headerPrefix, io),
    strict: options.strict === true,
    ...(options.name !== undefined && { names: options.name }),
    ...readProfile(options.profile),
    ...(seed !== undefined || isSized ? { seed: seed ?? SEED } : {}),
    ...(isSized ? { world } : {}),
  };
}

function readPort(said: string | undefined, io: Io): number {
  const port = readCount(
    said === undefined ? 'SANDBOX_PORT' : '--port',
    said ?? (io.env['SANDBOX_PORT'] || DEFAULT_PORT),
  );
  if (port <= 65_535) return port;
  throw new CommandFault(EXIT.usage, `Expected a port from 0 to 65535, got "${port}".`);
}

function readPrefix(said: string | undefined, io: Io): string {
  const prefix = said ?? (io.env['REGISTRY_HEADER_PREFIX'] || 'registry');
  if (/^[a-z][a-z0-9-]{0,40}$/i.test(prefix)) return prefix;
  const from = said === undefined ? 'REGISTRY_HEADER_PREFIX' : '--header-prefix';
  throw new CommandFault(EXIT.usage, `${from}: expected a plain word, got "${prefix}".`);
}

function readProfile(name: string | undefined): Pick<SandboxOptions, 'profile'> {
  if (name === undefined) return {};
  if (name === 'as-documented') return { profile: name };
  throw new CommandFault(EXIT.usage, `--profile: expected as-documented, got "${name}".`);
}

function readCount(what: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new CommandFault(EXIT.usage, `${what}: expected a whole number from 0, got "${text}".`);
}

async function open(request: SandboxOptions): Promise<Sandbox> {
  const { startSandbox } = await import('../../../sandbox/start.js');
  const { listenForPeople: listen } = await import('../../../webhook/listen.js');
  try {
    if (request.folder !== undefined) makePrivateFolder(request.folder);
    return await startSandbox({ ...request, listen });
  } catch (error) {
    throw explainStart(error, request);
  }
}

function explainStart(error: unknown, { port, folder }: SandboxOptions): unknown {
  if (!(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : null;
  if (code === 'EADDRINUSE') {
    return new CommandFault(
      EXIT.usage,
      `Another program has port ${port}.`,
      'Is a sandbox or the demo running already? Else choose another port with --port or SANDBOX_PORT.',
    );
  }
  if (describeSystemFault(error) !== null) return error;
  if (code !== null) return new CommandFault(EXIT.usage, `${folder} cannot be used: ${error.message}.`);
  const isRefusal = error.constructor === Error || error instanceof RangeError;
  if (!isRefusal) return error;
  return new CommandFault(
    EXIT.usage,
    `${error.message}.`,
    'Leave --seed and the sizes out, or choose another --folder.',
  );
}

function introduce(
  io: Io,
  { url, folder, registry }: Sandbox,
  { strict, headerPrefix }: SandboxOptions,
): void {
  const organizations = registry.organizations.all().length;
  const apps = registry.apps.list().length;
  const lines = [
    `This is a SANDBOX: a made-up registry on this machine at ${url}.`,
    `It holds ${count(organizations, 'organization')} and ${count(apps, 'app')}, in ${folder}.`,
    `Version header x-${headerPrefix}-api-version${strict ? ', refused where it is missing' : ''}.`,
    ...(organizations === 0
      ? ['It is empty: stop it and start it with --seed 1 to begin with a world.']
      : []),
    'In a second shell, "carbon-mirror sandbox --help" shows what can be done with it. Ctrl-C stops it.',
  ];
  say(io, ...lines);
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
