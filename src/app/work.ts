import { createClient } from '../client.js';
import type { WorkSettings } from './config/settings.js';
import { describeDisk } from '../store/contract/disk.js';
import type { Engine } from '../store/engine.js';
import { openEngine } from '../store/open.js';
import type { CertificateStore } from '../mirror/mirror.js';
import { DRIFT_RESOURCES } from '../mirror/sync-session.js';
import { createMetrics, type Metrics } from './operations/metrics.js';
import { readFindings } from '../query/history/findings.js';
import { readAges } from '../query/freshness/read.js';
import { readCertificateCounts } from '../query/status.js';
import { WEBHOOK_EVENTS } from '../registry/model.js';
import type { HttpOptions } from '../registry/http/http-types.js';
import type { ReadSummary } from '../sync/context.js';
import { describeFailure } from '../sync/outcome.js';
import { createSync, type Sync, type SyncOptions } from '../sync/sync.js';
import { openInOrder } from './shutdown.js';
import { startFindingCounter } from './finding-counter.js';
import {
  CONNECTION_LOST,
  DATABASE_NOT_READY,
  createProcessHealth,
  type RunningProcess,
  type ProcessDependencies,
} from './running-process.js';
import { createSyncContext } from './sync-context.js';
import { startSealing } from './sealing.js';
import { serveOperations } from './serve-operations.js';
import { describeThisProcess } from './heartbeats.js';

/** Without a schedule only what waits in the inbox is done. */
export type WorkerStartOptions = Omit<WorkSettings, 'syncSchedule'> & {
  readonly syncSchedule: string | null;
};

/** What else can be handed to it, as a value: the program leaves all of this out. */
export interface WorkerDependencies extends ProcessDependencies {
  readonly engine?: Engine;
  readonly random?: () => number;
  readonly calls?: Partial<HttpOptions>;
  readonly sync?: Partial<SyncOptions>;
}

export interface RunningWorker extends RunningProcess {
  readonly sync: Sync;
}

/** Reads the registry as jobs ask for it, and writes the mirror. */
export function startWorker(settings: WorkerStartOptions, tools: WorkerDependencies): Promise<RunningWorker> {
  const { log, now, engine = openEngine(settings), random = Math.random } = tools;
  return openInOrder(async shutdown => {
    const health = createProcessHealth();
    const { evidenceKeyFile: keyFile } = settings;
    const families = ['inbox', 'mirror', ...(keyFile === null ? [] : ['evidence' as const])] as const;
    const applied = await engine.prepare(families, now(), what => log.warn({ what }, DATABASE_NOT_READY));
    if (applied.length > 0) log.info({ applied: applied.map(({ file }) => file) }, 'databases migrated');

    const metrics = createMetrics(WEBHOOK_EVENTS);
    const client = createClient({
      ...settings,
      ...tools.calls,
      now,
      random,
      onCall: ({ route, status }) => metrics.countRegistryRequest(route, status),
      onClockCorrection: offsetMs =>
        log.warn({ offsetMs }, "the registry's clock is far from ours: going by the registry's"),
      onClockRefusal: skewMs =>
        log.error(
          { skewMs },
          "refused, and the registry's clock is not to be believed: is this machine's right?",
        ),
    });
    const store = await engine.openWork({
      now,
      failed: health.fail,
      lost: error => log.warn({ error: describeFailure(error) }, CONNECTION_LOST),
    });
    shutdown.add(() => store.close());
    const { inbox, reader } = store;
    const parts = { ...store, client, now, random };
    const context = { ...(await createSyncContext(settings, parts)), onRead: countReads(metrics) };

    const operations = await serveOperations({
      host: settings.operationsHost,
      port: settings.operationsPort,
      log,
      engine,
      logFamilies: ['inbox', 'mirror'],
      metrics,
      findObstacle: () => inbox.findWriteObstacle(),
      findBrokenReason: () => (health.isBroken() ? 'the mirror cannot be written' : null),
      isStopping: health.isStopping,
      updateGauges: async () => {
        const { oldestRunAt, ...jobs } = await inbox.countJobs();
        metrics.setJobCounts(jobs);
        metrics.setPulse(await inbox.readPulse());
        for (const { name, ...held } of store.logs(now())) metrics.setHeldWal(name, held);
        metrics.setFreshness(await readAges(reader));
        metrics.setCertificateCounts(await readCertificateCounts(reader));
        metrics.setFindingCounts((await readFindings(reader)).counts);
      },
    });
    shutdown.add(async () => operations?.close());

    const sync = createSync(context, {
      schedule: settings.syncSchedule,
      concurrency: settings.workerConcurrency,
      self: describeThisProcess('work', now()),
      log,
      findPauseReason: () => {
        const disk = engine.lookAtDisk();
        return disk?.paused ? describeDisk(disk) : null;
      },
      ...tools.sync,
      onEnded: ended => {
        metrics.countJobRun(ended.outcome);
        tools.sync?.onEnded?.(ended);
      },
    });
    await client.jwt.get();
    await sync.start();
    shutdown.add(() => sync.stop());
    shutdown.add(startSweep(context.certificates, log));
    shutdown.add(startFindingCounter({ engine, mirror: store.mirror, now, log }));
    if (keyFile !== null)
      shutdown.add(
        await startSealing({ log, now }, { store: settings, keyFile, mirrorMembers: settings.mirrorMembers }),
      );
    const { baseUrl, syncSchedule } = settings;
    log.info({ registry: baseUrl, schedule: syncSchedule, operations: operations?.port }, 'working');

    return {
      port: null,
      operationsPort: operations?.port ?? null,
      failed: health.failed,
      sync,
      stop: async () => {
        health.beginStop();
        await shutdown.close();
        log.info({}, 'worker stopped');
      },
    };
  });
}

/** Beside the work; answers what ends it. */
function startSweep(certificates: CertificateStore, log: ProcessDependencies['log']): () => Promise<void> {
  const stopped = new AbortController();
  const swept = certificates.removeOrphanFiles(stopped.signal).then(
    files => files > 0 && log.info({ files }, 'removed certificate files that no row names'),
    (error: unknown) => log.warn({ error: describeFailure(error) }, 'the certificates folder was not swept'),
  );
  return async () => {
    stopped.abort();
    await swept;
  };
}

function countReads(metrics: Metrics): (end: ReadSummary) => void {
  for (const resource of DRIFT_RESOURCES) metrics.countDrift(resource, 0);
  return ({ resource, state, ms, added, changed, removed, drift }) => {
    metrics.observeSync(resource, state, ms / 1000);
    metrics.countRows(resource, 'added', added);
    metrics.countRows(resource, 'changed', changed);
    metrics.countRows(resource, 'removed', removed);
    metrics.countDrift(resource, drift);
  };
}
