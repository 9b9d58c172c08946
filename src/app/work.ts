import { join } from 'node:path';
import { createClient } from '../client.js';
import type { WorkSettings } from '../config/settings.js';
import { describeDisk, lookAtDisk } from '../engines/sqlite/disk.js';
import { createHoldClock, readLogState } from '../engines/sqlite/log-state.js';
import { migrateFile } from '../engines/sqlite/migrate.js';
import { createInboxPort } from '../engines/sqlite/inbox/inbox.js';
import { openDatabase, type Sqlite } from '../engines/sqlite/open.js';
import { readerOf } from '../engines/sqlite/reader.js';
import { startMirrorThread } from '../engines/sqlite/mirror/thread.js';
import type { CertificateStore } from '../mirror/mirror.js';
import { DRIFTING } from '../mirror/sync-run.js';
import { createMetrics, type Metrics } from '../operations/metrics.js';
import { readAges, readCertificateCounts } from '../query/status.js';
import { EVENTS } from '../registry/model.js';
import type { ReadEnd } from '../sync/read/read-end.js';
import { describe } from '../sync/outcome.js';
import { createSync } from '../sync/sync.js';
import { openAll } from './closing.js';
import { createContext } from './context.js';
import { serveOperations } from './operations.js';
import { createHealth, type Running, type Tools } from './running.js';
import { thisProcess } from './signs.js';

/** A worker may wait for another writer; nobody waits for its answer. */
const BUSY_MS = 10_000;

/** Without a schedule only what waits in the inbox is done. */
export type WorkOptions = Omit<WorkSettings, 'syncSchedule'> & { readonly syncSchedule: string | null };

/** Reads the registry as jobs ask for it, and writes the mirror. */
export function startWork(settings: WorkOptions, { log, now }: Tools): Promise<Running> {
  return openAll(async closing => {
    const health = createHealth();
    const started = new Date(now()).toISOString();
    const inboxFile = join(settings.dataDir, 'inbox.db');
    const mirrorFile = join(settings.dataDir, 'mirror.db');
    const applied = [
      ...migrateFile(inboxFile, 'inbox', started),
      ...migrateFile(mirrorFile, 'mirror', started),
    ];
    if (applied.length > 0) log.info({ applied }, 'databases migrated');

    const metrics = createMetrics(EVENTS);
    const client = createClient({
      ...settings,
      now,
      random: Math.random,
      onCall: ({ route, status }) => metrics.registryRequest(route, status),
      onClockCorrection: offsetMs =>
        log.warn({ offsetMs }, "the registry's clock is far from ours: going by the registry's"),
      onClockRefusal: skewMs =>
        log.error(
          { skewMs },
          "refused, and the registry's clock is not to be believed: is this machine's right?",
        ),
    });
    const inboxDb = openDatabase(inboxFile, { busyTimeoutMs: BUSY_MS });
    closing.add(() => void inboxDb.close());
    const mirrorDb = openDatabase(mirrorFile, { busyTimeoutMs: BUSY_MS, readonly: true });
    closing.add(() => void mirrorDb.close());
    const reader = readerOf(mirrorDb);
    const inbox = createInboxPort(inboxDb, now);
    const port = await startMirrorThread({
      file: mirrorFile,
      reader: mirrorDb,
      busyTimeoutMs: BUSY_MS,
      certificates: join(settings.dataDir, 'certificates'),
      failed: health.fail,
    });
    closing.add(() => port.close());
    const parts = { inbox, port, client, now, random: Math.random };
    const context = { ...(await createContext(settings, parts)), onRead: countReads(metrics) };

    const disk = () => lookAtDisk(settings.dataDir, settings.diskReserveMb);
    const logs = [watchLog('inbox', inboxDb), watchLog('mirror', mirrorDb)];
    const operations = await serveOperations({
      host: settings.operationsHost,
      port: settings.operationsPort,
      log,
      files: [inboxFile, mirrorFile],
      disk,
      metrics,
      writable: async () => {
        const obstacle = await inbox.findObstacle();
        if (obstacle !== null) throw new Error(obstacle.message);
      },
      broken: () => (health.isBroken() ? 'the mirror cannot be written' : null),
      stopping: health.isStopping,
      gauges: async () => {
        const { oldestRunAt, ...jobs } = await inbox.countJobs();
        metrics.jobs(jobs);
        metrics.pulse(await inbox.readPulse());
        for (const { name, look } of logs) metrics.walHeld(name, look(now()));
        metrics.reads(await readAges(reader));
        metrics.certificates(await readCertificateCounts(reader));
      },
    });
    closing.add(async () => operations?.close());

    const sync = createSync(context, {
      schedule: settings.syncSchedule,
      concurrency: settings.workerConcurrency,
      self: thisProcess('work', now()),
      log,
      whyPaused: () => {
        const seen = disk();
        return seen.paused ? describeDisk(seen) : null;
      },
      onEnded: ({ outcome }) => metrics.jobEnded(outcome),
    });
    await client.jwt.get();
    await sync.start();
    closing.add(() => sync.stop());
    closing.add(startSweep(context.certificates, log));
    const { baseUrl, syncSchedule } = settings;
    log.info({ registry: baseUrl, schedule: syncSchedule, operations: operations?.port }, 'working');

    return {
      port: null,
      operationsPort: operations?.port ?? null,
      failed: health.failed,
      stop: async () => {
        health.beginStop();
        await closing.close();
        log.info({}, 'worker stopped');
      },
    };
  });
}

/** Beside the work; answers what ends it. */
function startSweep(certificates: CertificateStore, log: Tools['log']): () => Promise<void> {
  const stopped = new AbortController();
  const swept = certificates.sweep(stopped.signal).then(
    files => files > 0 && log.info({ files }, 'removed certificate files that no row names'),
    (error: unknown) => log.warn({ error: describe(error) }, 'the certificates folder was not swept'),
  );
  return async () => {
    stopped.abort();
    await swept;
  };
}

function watchLog(name: string, db: Sqlite) {
  const measure = createHoldClock();
  return {
    name,
    look: (now: number) => {
      const state = readLogState(db);
      return { unmovedBytes: state.unmovedBytes, heldMs: measure(state, now) };
    },
  };
}

function countReads(metrics: Metrics): (end: ReadEnd) => void {
  for (const resource of DRIFTING) metrics.drift(resource, 0);
  return ({ resource, state, ms, added, changed, removed, drift }) => {
    metrics.syncRun(resource, state, ms / 1000);
    metrics.rows(resource, 'added', added);
    metrics.rows(resource, 'changed', changed);
    metrics.rows(resource, 'removed', removed);
    metrics.drift(resource, drift);
  };
}
