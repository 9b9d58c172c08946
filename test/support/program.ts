import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createSyncContext } from '../../src/app/create-sync-context.js';
import { startReceiver } from '../../src/app/receive.js';
import { startWorker, type RunningWorker } from '../../src/app/work.js';
import { type Client, createClient } from '../../src/client.js';
import { readSettings } from '../../src/app/config/read-settings.js';
import type { Engine } from '../../src/store/engine.js';
import { openEngine } from '../../src/store/open-engine.js';
import type { InboxPort } from '../../src/inbox/port.js';
import { createLog } from '../../src/app/log.js';
import { CONFIRM_AFTER_MS } from '../../src/mirror/list/missing-rows.js';
import type { PdfStore } from '../../src/mirror/certificates/pdf-store.js';
import type { HttpOptions } from '../../src/registry/http/http-types.js';
import { createMask } from '../../src/text/mask.js';
import type { Sandbox, SandboxOptions } from '../../src/sandbox/start.js';
import type { SyncContext } from '../../src/sync/sync-context.js';
import { enqueueTick } from '../../src/sync/schedule/tick-schedule.js';
import type { SyncService, SyncServiceOptions } from '../../src/sync/sync-service.js';
import type { EndedJob } from '../../src/sync/worker/execute-job.js';
import { type DatabaseKind, createTestStore } from './test-store.js';
import { createKillableEngine } from './killable-engine.js';
import {
  ALL_PERMISSIONS,
  countCallsTo,
  createOrganization,
  issueCredit,
  registerApp,
  retireFromWarehouse,
  createTemporarySandboxFolder,
  startTestSandbox,
  type TestApp,
} from './sandbox.js';
import type { Tables } from './tables.js';
import { until } from './wait.js';

const WEBHOOK_SECRET = 'a webhook secret for tests';
const SOON_MS = 3000;

/** Wall time that a test can move. A program and its sandbox share it. */
export interface TestTime {
  readonly now: () => number;
  move(ms: number): void;
}

export function createTime(): TestTime {
  let offsetMs = 0;
  return {
    now: () => Date.now() + offsetMs,
    move: ms => {
      offsetMs += ms;
    },
  };
}

export interface ProgramOptions {
  /** How the sandbox answers where the documentation leaves a choice. */
  readonly profile?: SandboxOptions['profile'];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly http?: Partial<HttpOptions>;
  readonly worker?: Partial<SyncServiceOptions>;
  readonly context?: {
    readonly mirrorMembers?: boolean;
    readonly retentionDays?: number;
    readonly consoleActions?: boolean;
  };
  /** True to start no worker. */
  readonly receiveOnly?: boolean;
}

/** A sandbox, a receiver and a worker in one process, with real HTTP and a real database. */
export interface Program extends Tables {
  readonly sandbox: Sandbox;
  readonly registry: Sandbox['registry'];
  readonly time: TestTime;
  readonly app: TestApp;
  readonly keptIn: DatabaseKind;
  readonly folder: string;
  /** All settings as environment variables. */
  readonly env: Readonly<Record<string, string>>;
  readonly engine: Engine;
  readonly webhookUrl: string;
  readonly inbox: InboxPort;
  readonly pdfs: PdfStore;
  readonly ended: EndedJob[];
  /** Returns the worker that was started last. */
  worker(): SyncService;
  startWorker(http?: Partial<HttpOptions>): Promise<void>;
  kill(): Promise<void>;
  /** Kills the registry as `kill -9` would, so that nothing is written during its shutdown, and starts another one at its address. */
  killRegistry(): Promise<void>;
  /** Waits until every delivery has arrived and every job that is due soon is done. */
  rest(): Promise<void>;
  /** Moves the time by `afterMs`, one minute by default, starts a round of scheduled reads, and waits for its jobs. */
  reconcile(afterMs?: number): Promise<void>;
}

export async function startProgram(options: ProgramOptions = {}): Promise<Program> {
  const time = createTime();
  const { keptIn, folder, database, openTables } = await createTestStore();
  const { profile } = options;
  const world = {
    folder: createTemporarySandboxFolder(),
    wallClock: time.now,
    ...(profile !== undefined && { profile }),
  };
  let { sandbox, stop } = await startTestSandbox(world);
  onTestFinished(() => stop());
  const app = registerApp(sandbox, {
    permissions: options.permissions ?? ALL_PERMISSIONS,
    webhookSecret: WEBHOOK_SECRET,
  });
  const env = {
    REGISTRY_BASE_URL: sandbox.url,
    REGISTRY_APP_ID: app.id,
    REGISTRY_PRIVATE_KEY: app.privateKey,
    WEBHOOK_SECRETS: WEBHOOK_SECRET,
    DATA_DIR: folder,
    PORT: '0',
    OPERATIONS_PORT: '0',
    ...(database === null ? {} : { MIRROR_DATABASE_URL: database.url }),
  };
  const tools = {
    now: time.now,
    log: createLog({ level: 'silent', mask: createMask([]), now: time.now, pretty: false }),
  };
  const settings = { ...(await readSettings(env, 'work')), ...options.context, database, syncSchedule: null };
  const engine = openEngine(settings);
  const receiver = await startReceiver({ ...(await readSettings(env, 'receive')), database }, tools);
  onTestFinished(() => receiver.stop());
  const webhookUrl = `http://127.0.0.1:${receiver.port}/webhooks`;
  sandbox.registry.apps.change(app.id, { webhookUrl });
  const inbox = await engine.openInbox(time.now);
  onTestFinished(() => inbox.close());
  const { pdfs, close: closePdfs } = await engine.openPdfs(time.now);
  onTestFinished(closePdfs);
  const tables = openTables(time.now);
  const ended: EndedJob[] = [];
  let current: { readonly worker: RunningWorker; readonly kill: () => Promise<void> } | undefined;

  async function startProgramWorker(http: Partial<HttpOptions> = {}): Promise<void> {
    const killable = createKillableEngine(engine);
    const working = await startWorker(settings, {
      ...tools,
      engine: killable.engine,
      random: () => 0,
      calls: { ...UNLIMITED, ...options.http, ...http },
      sync: { concurrency: 4, onEnded: event => ended.push(event), ...options.worker },
    });
    onTestFinished(() => working.stop());
    current = { worker: working, kill: killable.kill };
  }

  /** Kills the worker as `kill -9` would: it writes nothing more and releases no claim. */
  async function kill(): Promise<void> {
    const killed = current;
    current = undefined;
    await killed?.kill();
    await killed?.worker.stop();
  }

  async function killRegistry(): Promise<void> {
    const journal = join(world.folder, 'sandbox.journal');
    const written = readFileSync(journal);
    await stop();
    writeFileSync(journal, written);
    ({ sandbox, stop } = await startTestSandbox({ ...world, port: sandbox.port }));
  }

  /** Returns whether no job runs and none is due soon. Otherwise moves the time to the next job instead of waiting for it. */
  async function isQuiet(): Promise<boolean> {
    const { running, oldestRunAt } = await inbox.countJobs();
    const waitMs = oldestRunAt === null ? Infinity : Date.parse(oldestRunAt) - time.now();
    if (running > 0) return false;
    if (waitMs > SOON_MS) return true;
    if (waitMs > 0) time.move(waitMs);
    void current?.worker.sync.idle();
    return false;
  }

  async function rest(): Promise<void> {
    await sandbox.registry.deliveries.waitUntilSettled();
    if (current === undefined) return;
    await until(isQuiet, 'a program at rest');
  }

  if (options.receiveOnly !== true) await startProgramWorker();
  return {
    get sandbox() {
      return sandbox;
    },
    get registry() {
      return sandbox.registry;
    },
    time,
    app,
    keptIn,
    folder,
    env,
    engine,
    webhookUrl,
    inbox,
    pdfs,
    ended,
    worker: () => {
      if (current === undefined) throw new Error('no worker was started');
      return current.worker.sync;
    },
    kill,
    killRegistry,
    startWorker: startProgramWorker,
    rest,
    async reconcile(afterMs = 60_000) {
      time.move(afterMs);
      await enqueueTick(inbox, time.now(), time.now());
      await rest();
      const doubted = await tables.rows('SELECT 1 FROM resource_states WHERE doubted_at IS NOT NULL');
      if (doubted.length === 0) return;
      time.move(CONFIRM_AFTER_MS + 1000);
      await rest();
    },
    ...tables,
  };
}

/** Opens the context of a worker process, with connections of its own. */
export async function openSyncContext(program: Program, options: ProgramOptions): Promise<SyncContext> {
  const { engine, sandbox, app, time } = program;
  const store = await engine.openWriterStores(time.now);
  onTestFinished(store.close);
  const settings = {
    appId: app.id,
    mirrorMembers: true,
    retentionDays: 90,
    consoleActions: false,
    ...options.context,
  };
  const client = createTestClient(sandbox, app, time.now, options.http);
  return createSyncContext(settings, { ...store, client, now: time.now, random: () => 0 });
}

/** Calls are neither rate-limited nor retried. */
const UNLIMITED = { requestsPerSecond: Infinity, burst: Infinity, attempts: 1 };

export function createTestClient(
  sandbox: Sandbox,
  app: TestApp,
  now: () => number,
  http: Partial<HttpOptions> = {},
): Client {
  return createClient({
    baseUrl: sandbox.url,
    appId: app.id,
    privateKey: app.privateKey,
    ...UNLIMITED,
    now,
    random: Math.random,
    ...http,
  });
}

export interface InstalledProgram {
  readonly program: Program;
  readonly organizationId: string;
  readonly installationId: string;
  /** A credit with 100 tonnes in the warehouse. */
  readonly creditId: string;
  /** Retires an amount in tonnes from the warehouse. */
  readonly retire: (amount: number) => void;
  /** Counts the calls of the registry whose path ends with `ending`. */
  readonly calls: (ending: string) => number;
}

/** Starts a program with the app installed on one organization, and waits until its jobs are done. */
export async function startInstalled(options: ProgramOptions = {}): Promise<InstalledProgram> {
  const program = await startProgram(options);
  const { registry, app, sandbox } = program;
  const { id: organizationId } = createOrganization(sandbox);
  const creditId = issueCredit(sandbox, organizationId);
  const { id: installationId } = registry.installations.install(app.id, organizationId);
  await program.rest();
  return {
    program,
    organizationId,
    installationId,
    creditId,
    retire: amount => retireFromWarehouse(sandbox, { organizationId, appId: app.id, creditId }, amount),
    calls: ending => countCallsTo(sandbox, ending),
  };
}
