import type { RequestListener } from 'node:http';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import express from 'express';
import { expect, onTestFinished } from 'vitest';
import { createContext } from '../../src/app/context.js';
import { thisProcess } from '../../src/app/signs.js';
import { type Client, createClient } from '../../src/client.js';
import { migrate } from '../../src/engines/sqlite/migrate.js';
import { openDatabase, type Sqlite } from '../../src/engines/sqlite/open.js';
import { createGroupCommit } from '../../src/webhook/group-commit.js';
import { createInboxPort } from '../../src/engines/sqlite/inbox/inbox.js';
import type { InboxPort } from '../../src/inbox/port.js';
import { createCertificateFolder } from '../../src/engines/sqlite/certificates/folder.js';
import { AGREE_AFTER_MS } from '../../src/mirror/list/closing.js';
import { createMirrorPort } from '../../src/engines/sqlite/mirror/direct.js';
import type { HttpOptions } from '../../src/registry/http/calls.js';
import type { Sandbox } from '../../src/sandbox/start.js';
import type { Context } from '../../src/sync/context.js';
import { enqueueTick } from '../../src/sync/schedule/schedule.js';
import { createSync, type Sync, type SyncOptions } from '../../src/sync/sync.js';
import type { Ended } from '../../src/sync/worker/worker.js';
import { listen } from '../../src/webhook/listen.js';
import { createAcceptPosts, type Post } from '../../src/webhook/posts.js';
import { createReceiver } from '../../src/webhook/receiver.js';
import { temporaryFolder } from './inbox.js';
import { ALL_PERMISSIONS, createPrivateKey, registerApp, temporarySandbox, type TestApp } from './sandbox.js';
import { openBoth, type Tables, tablesOf } from './tables.js';

export const WEBHOOK_SECRET = 'a webhook secret for tests';
const KEY = createPrivateKey();
const SOON_MS = 3000;

/** Wall time that a test can move. Everything in one program and its sandbox reads the same. */
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
  readonly permissions?: Readonly<Record<string, string>>;
  readonly http?: Partial<HttpOptions>;
  readonly worker?: Partial<SyncOptions>;
  readonly context?: { readonly mirrorMembers?: boolean; readonly retentionDays?: number };
  /** Without a worker of its own. */
  readonly receiveOnly?: boolean;
}

/** A sandbox, the receiver and a worker in one process, over real HTTP and real files. */
export interface Program extends Tables {
  readonly sandbox: Sandbox;
  readonly registry: Sandbox['registry'];
  readonly time: TestTime;
  readonly app: TestApp;
  readonly folder: string;
  readonly webhookUrl: string;
  readonly inbox: InboxPort;
  readonly ended: Ended[];
  /** The one that was started last. */
  worker(): Sync;
  startWorker(http?: Partial<HttpOptions>): Promise<void>;
  kill(): Promise<void>;
  /** Waits until every delivery has arrived and every job that is due soon is done. */
  rest(): Promise<void>;
  /** A while later, a minute if not told: one time of the schedule, and everything that comes of it. */
  reconcile(afterMs?: number): Promise<void>;
}

export async function startProgram(options: ProgramOptions = {}): Promise<Program> {
  const time = createTime();
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'certificates'));
  const sandbox = await temporarySandbox({ wall: time.now });
  const inbox = createInboxPort(openInbox(folder, time), time.now);
  const door = await openDoor(inbox, time);
  const app = registerApp(sandbox, {
    permissions: options.permissions ?? ALL_PERMISSIONS,
    webhookUrl: door.url,
    webhookSecret: WEBHOOK_SECRET,
    privateKey: KEY,
  });
  door.serve(app.id);
  openMirror(folder, time);
  const tables = openTables(folder, time);
  const ended: Ended[] = [];
  let current: { readonly worker: Sync; readonly databases: readonly Sqlite[] } | undefined;

  async function startWorker(http: Partial<HttpOptions> = {}): Promise<void> {
    const databases = { inbox: openInbox(folder, time), mirror: openMirror(folder, time) };
    const parts = { sandbox, app, time, folder };
    const context = await connect(parts, databases, { ...options, http: { ...options.http, ...http } });
    const worker = createSync(context, {
      schedule: null,
      concurrency: 4,
      self: thisProcess('work', time.now()),
      log: { info: () => {}, warn: () => {}, error: () => {} },
      onEnded: event => ended.push(event),
      ...options.worker,
    });
    onTestFinished(() => worker.stop());
    current = { worker, databases: Object.values(databases) };
    await worker.start();
  }

  /** As a kill -9 leaves it: nothing more is written, nothing is given back. */
  async function kill(): Promise<void> {
    const stopped = current?.worker.stop();
    for (const db of current?.databases ?? []) db.close();
    current = undefined;
    await stopped;
  }

  /** Nothing is at work and nothing is due soon. What is due soon is not waited for: time moves on. */
  async function isQuiet(): Promise<boolean> {
    const { claimed, oldestRunAt } = await inbox.countJobs();
    const waitMs = oldestRunAt === null ? Infinity : Date.parse(oldestRunAt) - time.now();
    if (claimed > 0) return false;
    if (waitMs > SOON_MS) return true;
    if (waitMs > 0) time.move(waitMs);
    void current?.worker.idle();
    return false;
  }

  async function rest(): Promise<void> {
    await sandbox.registry.deliveries.settled();
    if (current === undefined) return;
    await expect.poll(isQuiet, { timeout: 45_000, interval: 10 }).toBe(true);
  }

  if (options.receiveOnly !== true) await startWorker();
  return {
    sandbox,
    registry: sandbox.registry,
    time,
    app,
    folder,
    webhookUrl: door.url,
    inbox,
    ended,
    worker: () => {
      if (current === undefined) throw new Error('no worker was started');
      return current.worker;
    },
    kill,
    startWorker,
    rest,
    async reconcile(afterMs = 60_000) {
      time.move(afterMs);
      await enqueueTick(inbox, time.now(), time.now());
      await rest();
      const doubted = await tables.rows('SELECT 1 FROM resource_states WHERE doubted_at IS NOT NULL');
      if (doubted.length === 0) return;
      time.move(AGREE_AFTER_MS + 1000);
      await rest();
    },
    ...tables,
  };
}

/** What a process that works holds: connections of its own to both databases. */
export function contextOf(program: Program, options: ProgramOptions): Promise<Context> {
  const { folder, time } = program;
  const databases = { inbox: openInbox(folder, time), mirror: openMirror(folder, time) };
  return connect(program, databases, options);
}

async function connect(
  { sandbox, app, time, folder }: Pick<Program, 'sandbox' | 'app' | 'time' | 'folder'>,
  databases: { readonly inbox: Sqlite; readonly mirror: Sqlite },
  options: ProgramOptions,
): Promise<Context> {
  const settings = { appId: app.id, mirrorMembers: true, retentionDays: 90 };
  return createContext(
    { ...settings, ...options.context },
    {
      inbox: createInboxPort(databases.inbox, time.now),
      mirror: createMirrorPort(databases.mirror, join(folder, 'certificates')),
      pdfs: createCertificateFolder(join(folder, 'certificates'), time),
      client: clientOf(sandbox, app, time.now, options.http),
      now: time.now,
      random: () => 0,
    },
  );
}

export function clientOf(
  sandbox: Sandbox,
  app: TestApp,
  now: () => number,
  http: Partial<HttpOptions> = {},
): Client {
  return createClient({
    baseUrl: sandbox.url,
    appId: app.id,
    privateKey: app.privateKey,
    requestsPerSecond: Infinity,
    burst: Infinity,
    attempts: 1,
    now,
    random: Math.random,
    ...http,
  });
}

function openInbox(folder: string, time: TestTime): Sqlite {
  return open(folder, 'inbox', time);
}

function openMirror(folder: string, time: TestTime): Sqlite {
  return open(folder, 'mirror', time);
}

function open(folder: string, family: 'inbox' | 'mirror', time: TestTime): Sqlite {
  const db = openDatabase(join(folder, `${family}.db`), { busyTimeoutMs: 5000 });
  onTestFinished(() => {
    db.close();
  });
  migrate(db, family, new Date(time.now()).toISOString());
  tellTime(db, time);
  return db;
}

function openTables(folder: string, time: TestTime): Tables {
  const db = openBoth(folder, false);
  onTestFinished(() => {
    db.close();
  });
  tellTime(db, time);
  return tablesOf(db);
}

/** Views ask SQLite for the time: here they are told the time that the test moves. */
function tellTime(db: Sqlite, { now }: TestTime): void {
  db.function('unixepoch', { varargs: true }, (when: unknown, precision?: unknown) => {
    const atMs = when === 'now' ? now() : Date.parse(String(when));
    if (Number.isNaN(atMs)) return null;
    return precision === 'subsec' ? atMs / 1000 : BigInt(Math.floor(atMs / 1000));
  });
}

async function openDoor(inbox: InboxPort, time: TestTime) {
  let acceptPosts: ReturnType<typeof createAcceptPosts> = async () => [];
  let handler: RequestListener = (_request, response) => response.writeHead(503).end();
  const group = createGroupCommit({
    store: async (posts: readonly Post[]) => acceptPosts(posts, time.now()),
  });
  onTestFinished(() => group.close());
  const app = express().use((request, response) => handler(request, response));
  const listening = await listen(app, { host: '127.0.0.1', port: 0 });
  onTestFinished(() => listening.close());
  return {
    url: `http://127.0.0.1:${listening.port}/webhooks`,
    serve: (appId: string) => {
      acceptPosts = createAcceptPosts({
        secrets: [WEBHOOK_SECRET],
        appId,
        store: inbox.store,
      });
      handler = createReceiver({
        headerPrefix: 'registry',
        accept: post => group.accept(post),
        now: time.now,
      });
    },
  };
}
