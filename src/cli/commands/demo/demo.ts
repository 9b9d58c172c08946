import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { createPrivateFolder } from '../../../folder.js';
import { listenOnNextFreePort } from '../../../app/next-free-port.js';
import { type Sandbox, startSandbox } from '../../../sandbox/start.js';
import { readConsoleAddress, describeConsoleAccess, formatConsoleUrl } from '../../console-address.js';
import { getValueAtPath } from '../../value-at-path.js';
import { createMirror } from '../../../mirror/create-mirror.js';
import { findSandbox, PEM } from './sandbox.js';
import { createPastClock, MONTHS, playPast } from './past.js';
import { type ServicePorts, runServiceProcesses } from '../../processes/service-processes.js';
import { createUsageError } from '../../exit.js';
import { LANDING_PATH, WEBHOOK_PATH } from '../../../webhook/pages.js';
import { listenForPeople } from '../../../webhook/listen.js';
import { type Io, printNotice } from '../../io.js';
import type { MirrorLocation } from '../../context.js';
import { getDemoFolder, createMirrorLocation, useAndClose } from '../../mirror-location.js';
import { demoSettingsFile, readDemoSettings, writeDemoSettings } from './settings.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { readMirrored } from '../../../query/coverage.js';

const SEED = 1;
const DEFAULT_PORT = '8080';
const DEFAULT_SANDBOX_PORT = '8090';
const APP_NAME = 'carbon-mirror demo';

/** All that a mirror needs to be told, and to go on asking for what may change later. */
const PERMISSIONS = {
  organization_info: 'VIEW',
  organization_members: 'VIEW',
  organization_warehouse: 'WRITE',
  organization_inventory: 'REQUEST',
};

/** A whole registry on this machine, the app installed on its organizations, and the mirror beside it. */
export async function runDemo(io: Io, interrupted: AbortSignal): Promise<void> {
  const folder = getDemoFolder(io.env);
  const own = createMirrorLocation(io, { folder, env: io.env, isDemo: true });
  createPrivateFolder(folder);
  const known = readDemoSettings(folder);
  await demandNobody(folder, known?.['REGISTRY_BASE_URL']);
  /** Before anybody can find the demo's settings: a command beside its start finds an empty mirror, not none. */
  await own.engine.migrate(io.now());
  if (known === null)
    printNotice(
      io,
      `Creating the demo in ${folder}: playing ${MONTHS} months of history, once. This takes up to a minute.`,
    );
  const clock = createPastClock(io.now);
  if (known !== null) clock.moveTo(0);
  const sandbox = await startDemoSandbox(io, folder, known?.['SANDBOX_PORT'], clock.now);
  try {
    const settings: Io['env'] = {
      ...(known ?? registerDemoApp(sandbox, io.env['PORT'] || DEFAULT_PORT)),
      REGISTRY_BASE_URL: sandbox.url,
      SANDBOX_PORT: String(sandbox.port),
    };
    const appId = settings['REGISTRY_APP_ID'] ?? '';
    const origin = { baseUrl: new URL(sandbox.url).href, appId, mayMove: true };
    await useAndClose(own.engine.openWriters(clock.now), ({ mirror }) =>
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
    const onMonth = (month: number) => printNotice(io, `  month ${month} of ${MONTHS} ...`);
    const first = (stopping: AbortSignal) =>
      playPast({ engine, env, sandbox, appId, clock, install, stopping, onMonth });
    const whenReady = async ({ port, consolePort }: ServicePorts, stopping: AbortSignal) => {
      const addresses = addressesAt(port);
      sandbox.registry.apps.change(appId, addresses);
      const { OPERATIONS_PORT } = env;
      const ports = { PORT: String(port), OPERATIONS_PORT, CONSOLE_PORT: consolePort?.toString() };
      writeDemoSettings(folder, { ...settings, ...ports });
      install();
      const pages = consolePort === null ? null : readConsoleAddress(own);
      introduce(io, {
        ...(pages !== null && { console: formatConsoleUrl(pages.port) }),
        registry: sandbox.url,
        webhooks: addresses.webhookUrl,
        ...own.engine.files,
        settings: demoSettingsFile(folder),
      });
      const ready = await waitUntilRead(own, countInstalled(sandbox, appId), stopping);
      if (ready !== null)
        printNotice(io, ready, ...(pages === null ? [] : describeConsoleAccess(pages, io, commandOf(io))));
    };
    await runServiceProcesses(io, env, interrupted, whenReady, known === null ? first : undefined);
  } finally {
    await sandbox.close();
  }
}

function addressesAt(port: number | string) {
  const at = `http://127.0.0.1:${port}`;
  return { webhookUrl: `${at}${WEBHOOK_PATH}`, callbackUrls: [`${at}${LANDING_PATH}`] };
}

/** Two at once would write the same files. */
async function demandNobody(folder: string, registryUrl: string | undefined): Promise<void> {
  const running = await findSandbox(registryUrl);
  if (running === null || getValueAtPath(await running('GET', '/status'), 'folder') !== worldFolder(folder))
    return;
  throw createUsageError(
    `The demo in ${folder} is already running, with its registry at ${registryUrl}.`,
    '"carbon-mirror console url" prints a sign-in link for its console. Set DATA_DIR to run another demo.',
  );
}

function worldFolder(folder: string): string {
  return join(realpathSync(folder), 'sandbox');
}

/** A port that nobody named is the one that the demo had, or the next free one. */
async function startDemoSandbox(
  { env }: Io,
  folder: string,
  knownPort: string | undefined,
  wall: () => number,
): Promise<Sandbox> {
  const named = env['SANDBOX_PORT'];
  const options = {
    folder: worldFolder(folder),
    seed: SEED,
    strict: true,
    wallClock: wall,
    listen: listenForPeople,
  };
  const start = (port: number): Promise<Sandbox> => startSandbox({ ...options, port });
  return await (named
    ? start(Number(named))
    : listenOnNextFreePort(Number(knownPort || DEFAULT_SANDBOX_PORT), start));
}

function registerDemoApp(sandbox: Sandbox, port: string) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', PEM);
  const webhookSecret = randomBytes(32).toString('hex');
  const { id } = sandbox.registry.apps.register({
    name: APP_NAME,
    permissions: PERMISSIONS,
    ...addressesAt(port),
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

function countInstalled({ registry }: Sandbox, appId: string): number {
  const { installations } = registry.store.tables;
  return installations.listLive().filter(row => row.appId === appId && row.state === 'active').length;
}

/** Once only: what a person uninstalls in the demo stays uninstalled. */
function installEverywhere(sandbox: Sandbox, appId: string): void {
  const { installations, organizations } = sandbox.registry;
  if (installations.listAll().some(installation => installation.appId === appId)) return;
  for (const organization of organizations.listAll()) installations.install(appId, organization.id);
}

const POLL_MS = 250;

/** Where everything is, by what it is called. */
function introduce(io: Io, places: Readonly<Record<string, string>>): void {
  const where = Object.entries(places);
  const command = commandOf(io);
  const lines = `
This is a DEMO: a made-up registry on this machine with made-up organizations. No real data, no account needed.

${where.map(([name, address]) => `  ${name.padEnd(12)}  ${address}`).join('\n')}

Try in a second shell:

  ${command} status
  ${command} available
  ${command} query "select count(*) from retirements"

Ctrl-C stops everything. The next start resumes from here.
`;
  printNotice(io, ...lines.split('\n'));
}

/** A second shell has not the settings of this one. */
function commandOf({ env }: Io): string {
  const command = env['NODE_ENV'] === 'production' ? 'NODE_ENV= npx carbon-mirror' : 'npx carbon-mirror';
  const folder = env['DATA_DIR'];
  if (!folder) return command;
  const word = /^[\w./-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`;
  return `DATA_DIR=${word} ${command}`;
}

/** Says what is there once all of so many organizations are read; null where nobody waits any more. */
async function waitUntilRead(
  location: MirrorLocation,
  organizations: number,
  stopping: AbortSignal,
): Promise<string | null> {
  return await useAndClose(location.engine.openReader(), async reader => {
    while (!stopping.aborted) {
      const there = await readMirrored(reader);
      const { credits, retirements, certificates } = there;
      if (there.organizations >= organizations && there.unread === 0)
        return `Ready: ${there.organizations} organizations, ${credits} credits, ${retirements} retirements and ${certificates} certificates mirrored.`;
      await sleep(POLL_MS, undefined, { signal: stopping }).catch(() => undefined);
    }
    return null;
  });
}
