import { join } from 'node:path';
import { createClient } from './auth/client.js';
import type { ReceiveSettings, WorkSettings } from './config/settings.js';
import { migrateFile } from './database/migrate.js';
import { openDatabase } from './database/open.js';
import { startCommitThread } from './inbox/commit-thread.js';
import { createGroupCommit } from './inbox/group-commit.js';
import { createInbox } from './inbox/inbox.js';
import { watchCommits } from './inbox/wake.js';
import type { Log } from './log.js';
import { createMirror } from './mirror/mirror.js';
import { createStanding } from './mirror/standing.js';
import { createSync } from './sync/sync.js';
import { listen } from './webhook/listen.js';
import { type Answer, createReceiver } from './webhook/receiver.js';

/** A program that runs until it is stopped, or until it fails by itself. */
export interface Running {
  /** Where it takes requests; null where it takes none. */
  readonly port: number | null;
  /** Rejects when the program cannot go on; a stop does not settle it. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

export interface Tools {
  readonly log: Log;
  readonly now: () => number;
}

/** A stranger's lock is waited for no longer than this: the sender gets 503 within a second and comes back. */
const RECEIVER_BUSY_MS = 250;

/** The door: it sees inbox.db and nothing else. */
export async function startReceive(settings: ReceiveSettings, { log, now }: Tools): Promise<Running> {
  const file = join(settings.dataDir, 'inbox.db');
  const applied = migrateFile(file, 'inbox', new Date(now()).toISOString());
  if (applied.length > 0) log.info({ applied }, 'inbox.db migrated');

  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  const thread = await startCommitThread({ file, busyTimeoutMs: RECEIVER_BUSY_MS, now, failed: fail });
  const inbox = createGroupCommit({ store: deliveries => thread.store(deliveries) });
  const receiver = createReceiver({
    headerPrefix: settings.headerPrefix,
    secrets: settings.webhookSecrets,
    appId: settings.appId,
    accept: delivery => inbox.accept(delivery),
    now,
    answered: createAnswerLog(log, now),
  });
  const door = await listen(receiver, { host: settings.host, port: settings.port });
  log.info({ host: settings.host, port: door.port }, 'receiving webhooks');

  return {
    port: door.port,
    failed,
    stop: async () => {
      await door.close();
      await inbox.close();
      await thread.close();
      log.info({}, 'receiver stopped');
    },
  };
}

/** A worker may wait for another writer; nobody waits for its answer. */
const WORKER_BUSY_MS = 10_000;

/** Reads the registry as jobs ask for it, and writes the mirror. */
export async function startWork(settings: WorkSettings, { log, now }: Tools): Promise<Running> {
  const started = new Date(now()).toISOString();
  const inboxFile = join(settings.dataDir, 'inbox.db');
  const mirrorFile = join(settings.dataDir, 'mirror.db');
  const applied = [
    ...migrateFile(inboxFile, 'inbox', started),
    ...migrateFile(mirrorFile, 'mirror', started),
  ];
  if (applied.length > 0) log.info({ applied }, 'databases migrated');

  const client = createClient({
    ...settings,
    now,
    random: Math.random,
    onClockCorrection: offsetMs =>
      log.warn({ offsetMs }, "the registry's clock is far from ours: going by the registry's"),
  });
  const inboxDb = openDatabase(inboxFile, { busyTimeoutMs: WORKER_BUSY_MS });
  const mirrorDb = openDatabase(mirrorFile, { busyTimeoutMs: WORKER_BUSY_MS });
  const context = {
    inbox: createInbox(inboxDb),
    mirror: createMirror(mirrorDb, now),
    standing: createStanding(mirrorDb),
    client,
    appId: settings.appId,
    mirrorMembers: settings.mirrorMembers,
    retentionDays: settings.retentionDays,
    now,
    random: Math.random,
  };
  const sync = createSync(context, {
    schedule: settings.syncSchedule,
    concurrency: settings.workerConcurrency,
    log,
    watch: changed => watchCommits(inboxDb, changed),
  });
  const close = () => {
    inboxDb.close();
    mirrorDb.close();
  };
  try {
    sync.start();
  } catch (error) {
    close();
    throw error;
  }
  log.info({ registry: settings.baseUrl, schedule: settings.syncSchedule }, 'working');

  return {
    port: null,
    failed: new Promise<never>(() => undefined),
    stop: async () => {
      await sync.stop();
      close();
      log.info({}, 'worker stopped');
    },
  };
}

const REFUSALS_LOGGED_EVERY_MS = 10_000;

/** A flood of forged posts must not become a flood of lines: refusals are counted and told once in a while. */
function createAnswerLog(log: Log, now: () => number): (answer: Answer) => void {
  let refused = 0;
  let toldAt = -Infinity;
  return ({ status, delivery, stored, error }) => {
    const fields = {
      status,
      delivery: stored?.id,
      job: stored?.jobId,
      installation: delivery?.installationId,
    };
    if (status === 503) return log.error({ ...fields, err: error }, 'delivery not stored');
    if (delivery !== null) {
      return log.info(
        { ...fields, event: delivery.event, reason: delivery.reason },
        `delivery ${delivery.verdict}`,
      );
    }
    refused++;
    if (now() - toldAt < REFUSALS_LOGGED_EVERY_MS) return undefined;
    log.warn({ status, refused }, 'posts refused');
    refused = 0;
    toldAt = now();
    return undefined;
  };
}
