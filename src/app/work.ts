/**
 * Starts the worker process: it runs the jobs of the inbox, reads the registry and writes the mirror. Beside the jobs it
 * counts findings, removes orphaned certificate files and, if it has a key, seals what was observed. It never sees a webhook
 * secret.
 */
import { type Client, createClient } from '../client.js';
import type { WorkSettings } from './config/settings-table.js';
import { describeDisk } from '../store/contract/disk-space.js';
import type { Engine, WorkerStores } from '../store/engine.js';
import { openEngine } from '../store/open-engine.js';
import type { CertificateStore } from '../mirror/mirror.js';
import { DRIFT_RESOURCES } from '../mirror/sync-session.js';
import { createMetrics, type Metrics } from './operations/metrics.js';
import { readFindingCounts } from '../query/history/findings.js';
import { readListStateCounts } from '../query/freshness/read-freshness.js';
import { readCertificateCounts } from '../query/status.js';
import { WEBHOOK_EVENTS } from '../registry/object-models.js';
import type { HttpOptions } from '../registry/http/http-types.js';
import type { ReadSummary } from '../sync/sync-context.js';
import { describeFailure } from '../sync/outcome.js';
import { createSyncService, type SyncService, type SyncServiceOptions } from '../sync/sync-service.js';
import { openWithCleanup } from './shutdown.js';
import { type EventSending, startEventSending } from './events/sending.js';
import { startFindingCounter } from './finding-counter.js';
import {
  CONNECTION_LOST,
  DATABASE_NOT_READY,
  createProcessHealth,
  type RunningProcess,
  type ProcessDependencies,
} from './process-health.js';
import { createSyncContext } from './create-sync-context.js';
import { startSealing } from './sealing.js';
import { serveOperations } from './serve-operations.js';
import { describeThisProcess } from './process-identity.js';

/** The settings of the worker. Without a schedule it only runs the jobs that the inbox contains. */
export type WorkerStartOptions = Omit<WorkSettings, 'syncSchedule'> & {
  readonly syncSchedule: string | null;
};

/** Dependencies of the worker. Tests and `sync` set the optional ones. */
export interface WorkerDependencies extends ProcessDependencies {
  readonly engine?: Engine;
  readonly random?: () => number;
  /** Overrides options of the HTTP client. */
  readonly calls?: Partial<HttpOptions>;
  /** Overrides options of the sync. */
  readonly sync?: Partial<SyncServiceOptions>;
}

export interface RunningWorker extends RunningProcess {
  readonly sync: SyncService;
}

/** Starts the worker in this process. The worker runs the jobs in the inbox. */
export function startWorker(
  settings: WorkerStartOptions,
  dependencies: WorkerDependencies,
): Promise<RunningWorker> {
  const { log, now, engine = openEngine(settings), random = Math.random } = dependencies;
  return openWithCleanup(async shutdown => {
    const health = createProcessHealth();
    await prepareDatabases(engine, settings, dependencies);
    const metrics = createMetrics(WEBHOOK_EVENTS);
    const client = createWorkerClient(settings, { ...dependencies, random }, metrics);
    const store = await engine.openWorkerStores({
      now,
      onWriterFailed: health.markBroken,
      onConnectionLost: error => log.warn({ error: describeFailure(error) }, CONNECTION_LOST),
    });
    shutdown.add(() => store.close());
    const syncContext = await createSyncContext(settings, { ...store, client, now, random });
    const countRead = createReadCounter(metrics);
    const sending = await startEvents(settings, dependencies);
    if (sending !== null) shutdown.add(sending.stop);
    const context = {
      ...syncContext,
      onRead: (summary: ReadSummary) => {
        countRead(summary);
        sending?.wake();
      },
    };

    const operations = await serveOperations({
      host: settings.operationsHost,
      port: settings.operationsPort,
      log,
      engine,
      walDatabases: ['inbox', 'mirror'],
      metrics,
      findWriteObstacle: () => store.inbox.findWriteObstacle(),
      findBrokenReason: () => (health.isBroken() ? 'the mirror cannot be written' : null),
      isStopping: health.isStopping,
      updateGauges: async () => {
        await updateWorkerGauges(metrics, store, now());
        const counts = sending?.readCounts() ?? null;
        if (counts !== null) metrics.setEventCounts(counts);
      },
    });
    shutdown.add(async () => operations?.close());

    const sync = createSyncService(context, {
      schedule: settings.syncSchedule,
      concurrency: settings.workerConcurrency,
      self: describeThisProcess('work', now()),
      log,
      findPauseReason: () => {
        const disk = engine.measureDisk();
        return disk?.paused ? describeDisk(disk) : null;
      },
      ...dependencies.sync,
      onEnded: ended => {
        metrics.countJobRun(ended.outcome);
        dependencies.sync?.onEnded?.(ended);
      },
    });
    /** The first signature takes long on a cold machine, so it is made before any job is claimed. */
    await client.jwt.get();
    await sync.start();
    shutdown.add(() => sync.stop());
    shutdown.add(startOrphanFileRemoval(context.certificates, log));
    shutdown.add(startFindingCounter({ engine, mirror: store.mirror, now, log }));
    const {
      evidenceKeyFile: keyFile,
      evidenceCheckpointFile,
      evidenceTimestampUrl,
      outboundAllow,
      mirrorMembers,
    } = settings;
    if (keyFile !== null)
      shutdown.add(
        await startSealing(
          { log, now },
          {
            store: settings,
            keyFile,
            mirrorMembers,
            evidenceCheckpointFile,
            evidenceTimestampUrl,
            outboundAllow,
          },
        ),
      );
    const { baseUrl, syncSchedule } = settings;
    log.info({ registry: baseUrl, schedule: syncSchedule, operations: operations?.port }, 'worker started');

    return {
      port: null,
      operationsPort: operations?.port ?? null,
      failed: health.failed,
      sync,
      stop: async () => {
        health.markStopping();
        await shutdown.close();
        log.info({}, 'worker stopped');
      },
    };
  });
}

/** Migrates the inbox and the mirror. Migrates the evidence log and the subscriptions only if their keys are set. */
async function prepareDatabases(
  engine: Engine,
  { evidenceKeyFile, eventsKeyFile }: WorkerStartOptions,
  { log, now }: ProcessDependencies,
): Promise<void> {
  // The evidence log and the subscriptions are used only if their keys are set.
  const evidence = evidenceKeyFile === null ? [] : (['evidence'] as const);
  const events = eventsKeyFile === null ? [] : (['events'] as const);
  const families = ['inbox', 'mirror', ...evidence, ...events] as const;
  const applied = await engine.prepare(families, now(), what => log.warn({ what }, DATABASE_NOT_READY));
  if (applied.length > 0) log.info({ applied: applied.map(({ file }) => file) }, 'databases migrated');
}

/** Starts to send events to subscribers. Returns null if EVENTS_KEY_FILE is not set. */
async function startEvents(
  settings: WorkerStartOptions,
  dependencies: ProcessDependencies,
): Promise<EventSending | null> {
  const { eventsKeyFile: keyFile, retentionDays, outboundAllow } = settings;
  if (keyFile === null) return null;
  return await startEventSending(dependencies, { store: settings, keyFile, retentionDays, outboundAllow });
}

/** Creates the registry client of the worker. Counts requests and logs clock corrections. */
function createWorkerClient(
  settings: WorkerStartOptions,
  { log, now, random, calls }: WorkerDependencies & { readonly random: () => number },
  metrics: Metrics,
): Client {
  return createClient({
    ...settings,
    ...calls,
    now,
    random,
    onCall: ({ route, status }) => metrics.countRegistryRequest(route, status),
    onClockCorrection: offsetMs =>
      log.warn({ offsetMs }, "local clock differs from the registry's; using the registry's time"),
    onClockRefusal: skewMs =>
      log.error(
        { skewMs },
        "clock differs from the registry's by more than a day; check the clock of this machine",
      ),
  });
}

/** Updates the gauges that show jobs, freshness, certificates and findings with values from the databases. */
async function updateWorkerGauges(metrics: Metrics, store: WorkerStores, now: number): Promise<void> {
  const { inbox, reader } = store;
  const { oldestRunAt, ...jobCounts } = await inbox.countJobs();
  metrics.setJobCounts(jobCounts);
  metrics.setInboxStatus(await inbox.readStatus());
  for (const { name, ...heldWal } of store.readWalStatus(now)) metrics.setHeldWal(name, heldWal);
  metrics.setFreshness(await readListStateCounts(reader));
  metrics.setCertificateCounts(await readCertificateCounts(reader));
  metrics.setFindingCounts((await readFindingCounts(reader)).counts);
}

/** Starts to delete unreferenced certificate files in the background. Returns a function that stops the deletion. */
function startOrphanFileRemoval(
  certificates: CertificateStore,
  log: ProcessDependencies['log'],
): () => Promise<void> {
  const stopping = new AbortController();
  const removal = certificates.removeOrphanFiles(stopping.signal).then(
    files => files > 0 && log.info({ files }, 'orphaned certificate files removed'),
    (error: unknown) =>
      log.warn({ error: describeFailure(error) }, 'removing orphaned certificate files failed'),
  );
  return async () => {
    stopping.abort();
    await removal;
  };
}

/**
 * Creates a callback that records in the metrics how long each read of a resource took, how it ended and how many rows it
 * changed.
 */
function createReadCounter(metrics: Metrics): (summary: ReadSummary) => void {
  // Monitors see a metric only after it is set, so drift starts at 0.
  for (const resource of DRIFT_RESOURCES) metrics.countDrift(resource, 0);
  return ({ resource, state, ms, added, changed, removed, drift }) => {
    metrics.observeSync(resource, state, ms / 1000);
    metrics.countRows(resource, 'added', added);
    metrics.countRows(resource, 'changed', changed);
    metrics.countRows(resource, 'removed', removed);
    metrics.countDrift(resource, drift);
  };
}
