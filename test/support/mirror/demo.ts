import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, inject } from 'vitest';
import { startReceiver } from '../../../src/app/receive.js';
import { startWorker } from '../../../src/app/work.js';
import { readSettings, readStoreSettings } from '../../../src/app/config/read-settings.js';
import { createHistoryClock, playHistory } from '../../../src/cli/commands/demo/demo-history.js';
import { openEngine } from '../../../src/store/open-engine.js';
import { createMask } from '../../../src/text/mask.js';
import { createLog } from '../../../src/app/log.js';
import type { Sandbox } from '../../../src/sandbox/start.js';
import { findFreePort } from '../processes.js';
import { ALL_PERMISSIONS, registerApp, startTestSandbox } from '../sandbox.js';
import { type Tables, openTablesIn, withOpenTables } from '../tables.js';
import { makeFolder } from '../folder.js';

export interface DemoMirror extends Tables {
  readonly folder: string;
  /** The settings with which the programs run; commands take the same. */
  readonly env: Record<string, string>;
  readonly sandbox: Sandbox;
  readonly appId: string;
  /** The operations port of the worker; null unless requested. */
  readonly operationsPort: number | null;
  readonly receiverOperationsPort: number | null;
  /** Ids of the organizations, as the sandbox lists them. */
  readonly organizationIds: readonly string[];
  stop(): Promise<void>;
}

const SECRET = 'a webhook secret of the demo mirror';
const DEADLINE_MS = 150_000;

/** Starts the demo world and its mirror: a sandbox, a receiver and a worker in this process, over real HTTP. */
export async function startDemoMirror({
  operations = false,
  seed = 7,
  /** False if the started programs should read everything themselves. */
  mirrored = true,
  /** Whether the world has the simulated history that `up` plays. */
  past = false,
} = {}): Promise<DemoMirror> {
  const world = await findWorld(seed, past);
  const folders = copyWorld(world, mirrored);
  const { sandbox, stop } = await startTestSandbox({ seed, folder: folders.sandbox });
  const tables = openTablesIn(folders.mirror);
  if (mirrored) {
    await tables.change('UPDATE origin SET base_url = ?', new URL(sandbox.url).href);
    await tables.change('DELETE FROM inbox.processes');
  }
  const env = createSettings(sandbox, world, folders.mirror);
  const programs = await startPrograms(env, sandbox, world.appId, operations);
  await waitUntilIdle(folders.mirror);
  return {
    folder: folders.mirror,
    env: { ...env, PORT: String(programs.receive.port) },
    sandbox,
    appId: world.appId,
    operationsPort: programs.work.operationsPort,
    receiverOperationsPort: programs.receive.operationsPort,
    organizationIds: sandbox.registry.organizations.listAll().map(({ id }) => id),
    ...tables,
    stop: async () => {
      await programs.stop();
      await stop();
      for (const folder of Object.values(folders)) rmSync(folder, { recursive: true });
    },
  };
}

/** Starts a demo mirror for all tests of a file, and stops it after them. */
export async function startDemoForFile(
  options: Parameters<typeof startDemoMirror>[0] = {},
): Promise<DemoMirror> {
  const demo = await startDemoMirror(options);
  afterAll(() => demo.stop());
  return demo;
}

/** The folders of a registry and of its mirror, and the app with which it was read. */
interface DemoWorld {
  readonly sandbox: string;
  readonly mirror: string;
  readonly appId: string;
  readonly privateKey: string;
}

/** Returns the mirrored world of a seed. Mirroring takes seconds, so the first process does it, and every caller copies its files. */
async function findWorld(seed: number, past: boolean): Promise<DemoWorld> {
  const folder = join(inject('worlds'), past ? `${seed}-past` : String(seed));
  if (createFolderOnce(`${folder}.begun`)) {
    const newFolder = `${folder}.begun/world`;
    writeFileSync(
      join(newFolder, 'app.json'),
      JSON.stringify(await mirrorWorld(seed, past, getWorldFolders(newFolder))),
    );
    renameSync(newFolder, folder);
  }
  await waitFor(async () => existsSync(folder));
  return { ...getWorldFolders(folder), ...JSON.parse(readFileSync(join(folder, 'app.json'), 'utf8')) };
}

function createFolderOnce(folder: string): boolean {
  return mkdirSync(folder, { recursive: true }) !== undefined;
}

function getWorldFolders(folder: string) {
  return { sandbox: join(folder, 'sandbox'), mirror: join(folder, 'mirror') };
}

async function mirrorWorld(
  seed: number,
  past: boolean,
  folders: ReturnType<typeof getWorldFolders>,
): Promise<DemoApp> {
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const clock = createHistoryClock(Date.now);
  if (!past) clock.setPresent();
  const { sandbox, stop } = await startTestSandbox({ seed, folder: folders.sandbox, wallClock: clock.now });
  const { id: appId, privateKey } = registerApp(sandbox, {
    permissions: ALL_PERMISSIONS,
    webhookSecret: SECRET,
  });
  const env = createSettings(sandbox, { appId, privateKey }, folders.mirror);
  const install = () => {
    for (const { id } of sandbox.registry.organizations.listAll())
      sandbox.registry.installations.install(appId, id);
  };
  const stopping = new AbortController().signal;
  const engine = openEngine(readStoreSettings(env));
  if (past) await engine.migrate(clock.now());
  if (past)
    await playHistory({ engine, env, sandbox, appId, clock, install, stopping, onMonth: () => undefined });
  const programs = await startPrograms(env, sandbox, appId, false);
  if (!past) install();
  await waitUntilIdle(folders.mirror);
  await programs.stop();
  await stop();
  return { appId, privateKey };
}

function copyWorld(
  world: DemoWorld,
  mirrored: boolean,
): { readonly sandbox: string; readonly mirror: string } {
  const folders = { sandbox: makeFolder('carbon-mirror-demo-'), mirror: makeFolder('carbon-mirror-demo-') };
  cpSync(world.sandbox, folders.sandbox, { recursive: true });
  if (mirrored) cpSync(world.mirror, folders.mirror, { recursive: true });
  return folders;
}

type DemoApp = Pick<DemoWorld, 'appId' | 'privateKey'>;

function createSettings(
  sandbox: Sandbox,
  { appId, privateKey }: DemoApp,
  folder: string,
): Record<string, string> {
  return {
    REGISTRY_BASE_URL: sandbox.url,
    REGISTRY_APP_ID: appId,
    REGISTRY_PRIVATE_KEY: privateKey,
    REGISTRY_REQUESTS_PER_SECOND: '1000',
    WEBHOOK_SECRETS: SECRET,
    DATA_DIR: folder,
    PORT: '0',
    OPERATIONS_PORT: '0',
  };
}

async function startPrograms(
  env: Record<string, string>,
  sandbox: Sandbox,
  appId: string,
  operations: boolean,
) {
  const log = createLog({ level: 'silent', mask: createMask([]), now: Date.now, pretty: false });
  const tools = { log, now: Date.now };
  const port = async () => (operations ? String(await findFreePort()) : '0');
  const receive = await startReceiver(
    await readSettings({ ...env, OPERATIONS_PORT: await port() }, 'receive'),
    tools,
  );
  const work = await startWorker(
    await readSettings({ ...env, OPERATIONS_PORT: await port() }, 'work'),
    tools,
  );
  sandbox.registry.apps.change(appId, { webhookUrl: `http://127.0.0.1:${receive.port}/webhooks` });
  const stop = async () => {
    await work.stop();
    await receive.stop();
  };
  return { receive, work, stop };
}

async function waitUntilIdle(folder: string): Promise<void> {
  await withOpenTables(folder, tables => waitFor(() => isIdle(tables)));
}

async function isIdle({ rows }: Tables): Promise<boolean> {
  return (
    (await rows(UNFINISHED)).length === 0 &&
    (await rows('SELECT 1 FROM certificates')).length > 0 &&
    (await rows(ACTIVE_JOBS)).length === 0
  );
}

const UNFINISHED = `
  SELECT 'resource' FROM freshness WHERE state <> 'fresh' OR resource IS NULL
  UNION ALL SELECT 'certificate' FROM certificates_missing WHERE state = 'pending'`;

/** Jobs that run now or soon: a read a moment later would repair what a test has broken. */
const ACTIVE_JOBS = `
  SELECT 1 FROM jobs WHERE state = 'running' OR (state = 'waiting' AND unixepoch(run_at) <= unixepoch('now') + 5)`;

async function waitFor(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('the demo world was not mirrored in time');
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}
