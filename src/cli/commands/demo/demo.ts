/**
 * `up --demo`: a sandbox registry on this machine, the app installed on its organizations, and a mirror of it. The first
 * start plays a history that spans a year end (demo-history.ts); later starts resume from the same folder. The settings of the demo are
 * in `demo.env` (settings.ts), where other commands find them.
 * The demo must never use a real registry, so settings that name one are refused before the demo starts.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { createPrivateFolder } from '../../../folder.js';
import { listenOnNextFreePort } from '../../../app/next-free-port.js';
import { type Sandbox, startSandbox } from '../../../sandbox/start.js';
import { readConsoleAddress, describeConsoleAccess, formatConsoleUrl } from '../../console-address.js';
import { getValueAtPath } from '../../value-at-path.js';
import { createMirror } from '../../../mirror/create-mirror.js';
import { findSandbox, PEM_KEY_PAIR } from './demo-sandbox.js';
import { createHistoryClock, playHistory } from './demo-history.js';
import { hasValidToken } from '../../processes/service.js';
import { type ServicePorts, runServiceProcesses } from '../../processes/service-processes.js';
import { createUsageError } from '../../command-error.js';
import { LANDING_PATH, WEBHOOK_PATH } from '../../../webhook/visitor-pages.js';
import { listenForPeople } from '../../../webhook/http-listener.js';
import { type Io, printNotice } from '../../io.js';
import type { MirrorContext } from '../../context.js';
import { getDemoFolder, createMirrorLocation, useAndClose } from '../../mirror-location.js';
import { getDemoSettingsFile, readDemoSettings, writeDemoSettings } from './demo-settings.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { readMirrored } from '../../../query/coverage.js';
import { findLastYearEnd } from '../../../query/history/year-end.js';
import { readOrigin } from '../../../query/names.js';

const SEED = 1;
const DEFAULT_PORT = '8080';
const DEFAULT_SANDBOX_PORT = '8090';
const APP_NAME = 'carbon-mirror demo';

/** Permissions for everything that is mirrored, and for reservations and requests. */
const PERMISSIONS = {
  organization_info: 'VIEW',
  organization_members: 'VIEW',
  organization_warehouse: 'WRITE',
  organization_inventory: 'REQUEST',
};

/**
 * Runs the demo until `interrupted` is aborted. The demo consists of a sandbox registry, a receiver, a worker
 * and a console.
 */
export async function runDemo(io: Io, interrupted: AbortSignal): Promise<void> {
  const folder = getDemoFolder(io.env);
  const location = createMirrorLocation(io, { folder, env: io.env, isDemo: true });
  createPrivateFolder(folder);
  const known = readDemoSettings(folder);
  await assertDemoNotRunning(folder, known?.['REGISTRY_BASE_URL']);
  /** Migrate before the settings are written, so that a command which finds them finds a mirror too. */
  await location.engine.migrate(io.now());
  const clock = createHistoryClock(io.now);
  const firstDay = new Date(clock.now()).toISOString().slice(0, 'YYYY-MM-DD'.length);
  if (known === null)
    printNotice(
      io,
      `Creating the demo in ${folder}: playing its history since ${firstDay} with a simulated clock, once. ` +
        'This takes up to a minute.',
    );
  else clock.setPresent();
  const sandbox = await startDemoSandbox(io, folder, known?.['SANDBOX_PORT'], clock.now);
  try {
    const settings: Io['env'] = {
      ...(known ?? registerDemoApp(sandbox, io.env['PORT'] || DEFAULT_PORT)),
      REGISTRY_BASE_URL: sandbox.url,
      SANDBOX_PORT: String(sandbox.port),
    };
    const appId = settings['REGISTRY_APP_ID'] ?? '';
    const origin = { baseUrl: new URL(sandbox.url).href, appId, mayMove: true };
    await useAndClose(location.engine.openWriterStores(clock.now), ({ mirror }) =>
      createMirror(mirror, clock.now).checkOrigin({
        ...origin,
        ...(known === null && { simulatedTo: io.now() }),
      }),
    );
    writeDemoSettings(folder, settings);
    const { env, engine } = createMirrorLocation(io, {
      folder,
      env: { ...settings, ...io.env },
      isDemo: true,
    });
    const install = () => installEverywhere(sandbox, appId);
    const onMonth = (month: string) => printNotice(io, `  ${month} ...`);
    const createHistory = (stopping: AbortSignal) =>
      playHistory({ engine, env, sandbox, appId, clock, install, stopping, onMonth });
    const onReady = async ({ receiverPort, consolePort, apiPort }: ServicePorts, stopping: AbortSignal) => {
      const appUrls = createAppUrls(receiverPort);
      sandbox.registry.apps.change(appId, appUrls);
      const { OPERATIONS_PORT } = env;
      const ports = { PORT: String(receiverPort), OPERATIONS_PORT, CONSOLE_PORT: consolePort?.toString() };
      writeDemoSettings(folder, { ...settings, ...ports });
      install();
      const ownConsole = consolePort === null ? null : readConsoleAddress(location);
      const mirrorOrigin = await useAndClose(location.engine.openReader(), readOrigin);
      printIntroduction(io, mirrorOrigin, {
        ...(ownConsole !== null && { console: formatConsoleUrl(ownConsole.port) }),
        registry: sandbox.url,
        webhooks: appUrls.webhookUrl,
        ...(apiPort !== null && { api: `http://127.0.0.1:${apiPort}/v1` }),
        ...location.engine.files,
        settings: getDemoSettingsFile(folder),
      });
      const summary = await waitUntilMirrored(location, countActiveInstallations(sandbox, appId), stopping);
      if (summary === null) return;
      const signIn = ownConsole === null ? [] : describeConsoleAccess(ownConsole, io, getProgramCommand(io));
      printNotice(io, summary, ...signIn);
    };
    await runServiceProcesses({
      io,
      env,
      interrupted,
      onReady,
      needsApi: () => hasValidToken(engine, io.now),
      ...(known === null && { prepare: createHistory }),
    });
  } finally {
    await sandbox.close();
  }
}

/** Returns the app's webhook URL and callback URLs for a receiver on this local port. */
function createAppUrls(port: number | string) {
  const origin = `http://127.0.0.1:${port}`;
  return { webhookUrl: `${origin}${WEBHOOK_PATH}`, callbackUrls: [`${origin}${LANDING_PATH}`] };
}

/** Throws if the demo in this folder is already running. */
async function assertDemoNotRunning(folder: string, registryUrl: string | undefined): Promise<void> {
  const control = await findSandbox(registryUrl);
  if (control === null) return;
  const status = await control('GET', '/status');
  if (getValueAtPath(status, 'folder') !== getSandboxFolder(folder)) return;
  // Two running demos would write to the same files.
  throw createUsageError(
    `The demo in ${folder} is already running, with its registry at ${registryUrl}.`,
    '"carbon-mirror console url" prints a sign-in link for its console. Set DATA_DIR to run another demo.',
  );
}

/** Returns the data folder of the sandbox inside the demo's folder. */
function getSandboxFolder(folder: string): string {
  return join(realpathSync(folder), 'sandbox');
}

/** Starts the demo's sandbox on SANDBOX_PORT or, if that is not set, on a free port. */
async function startDemoSandbox(
  { env }: Io,
  folder: string,
  previousPort: string | undefined,
  wallClock: () => number,
): Promise<Sandbox> {
  const requestedPort = env['SANDBOX_PORT'];
  const options = {
    folder: getSandboxFolder(folder),
    seed: SEED,
    strict: true,
    wallClock,
    listen: listenForPeople,
  };
  const start = (port: number): Promise<Sandbox> => startSandbox({ ...options, port });
  if (requestedPort) return await start(Number(requestedPort));
  return await listenOnNextFreePort(Number(previousPort || DEFAULT_SANDBOX_PORT), start);
}

/** Registers the demo's app at the sandbox. Returns the app's settings, such as its id and private key. */
function registerDemoApp(sandbox: Sandbox, port: string) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', PEM_KEY_PAIR);
  const webhookSecret = randomBytes(32).toString('hex');
  const { id } = sandbox.registry.apps.register({
    name: APP_NAME,
    permissions: PERMISSIONS,
    ...createAppUrls(port),
    webhookSecret,
    publicKeys: [publicKey],
  });
  return {
    REGISTRY_APP_ID: id,
    REGISTRY_PRIVATE_KEY: privateKey,
    REGISTRY_REQUESTS_PER_SECOND: '200',
    WEBHOOK_SECRETS: webhookSecret,
  };
}

function countActiveInstallations({ registry }: Sandbox, appId: string): number {
  const { installations } = registry.store.tables;
  return installations.listLive().filter(row => row.appId === appId && row.state === 'active').length;
}

/** Installs the app on all organizations of the sandbox, unless the app has ever been installed. */
function installEverywhere(sandbox: Sandbox, appId: string): void {
  const { installations, organizations } = sandbox.registry;
  /** An organization that a person uninstalled must stay uninstalled. */
  if (installations.listAll().some(installation => installation.appId === appId)) return;
  for (const organization of organizations.listAll()) installations.install(appId, organization.id);
}

const POLL_MS = 250;

/** Prints what the demo is, then its URLs and files with their labels, then example commands. */
function printIntroduction(
  io: Io,
  origin: Awaited<ReturnType<typeof readOrigin>>,
  urlsAndFiles: Readonly<Record<string, string>>,
): void {
  const command = getProgramCommand(io);
  const simulatedUntil = origin?.simulated_until ?? null;
  const yearEnd = origin && findLastYearEnd(origin.created_at, io.now());
  const examples = [
    'status',
    'available',
    'query "select count(*) from retirements"',
    ...(yearEnd === null ? [] : [`retirements totals --year ${yearEnd.slice(0, 4)} --as-of ${yearEnd}`]),
  ];
  const introduction = `
This is a DEMO: a made-up registry on this machine with made-up organizations. No real data, no account needed.${
    simulatedUntil === null ? '' : `\nIts history until ${simulatedUntil} was played with a simulated clock.`
  }

${Object.entries(urlsAndFiles)
  .map(([label, place]) => `  ${label.padEnd(12)}  ${place}`)
  .join('\n')}

Try in a second shell:

${examples.map(words => `  ${command} ${words}`).join('\n')}

Ctrl-C stops everything. The next start resumes from here.
`;
  printNotice(io, ...introduction.split('\n'));
}

/** Returns the shell command that runs this program, such as `npx carbon-mirror`. */
function getProgramCommand({ env }: Io): string {
  const command = env['NODE_ENV'] === 'production' ? 'NODE_ENV= npx carbon-mirror' : 'npx carbon-mirror';
  const folder = env['DATA_DIR'];
  if (!folder) return command;
  const quotedFolder = /^[\w./-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`;
  return `DATA_DIR=${quotedFolder} ${command}`;
}

/** Waits until the demo's data is mirrored and returns a line with its counts. Returns null if `stopping` is aborted first. */
async function waitUntilMirrored(
  location: MirrorContext,
  organizationCount: number,
  stopping: AbortSignal,
): Promise<string | null> {
  return await useAndClose(location.engine.openReader(), async reader => {
    while (!stopping.aborted) {
      const { organizations, credits, retirements, certificates, unread } = await readMirrored(reader);
      if (organizations >= organizationCount && unread === 0)
        return `Ready: ${organizations} organizations, ${credits} credits, ${retirements} retirements and ${certificates} certificates mirrored.`;
      await sleep(POLL_MS, undefined, { signal: stopping }).catch(() => undefined);
    }
    return null;
  });
}
