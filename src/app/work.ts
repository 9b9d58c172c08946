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
import { openAll } from './shutdown.js';
import { startCounting } from './counting.js';
import { LOST, WAITS, createHealth, type Running, type Tools } from './running.js';
import { createContext } from './context.js';
import { startSealing } from './sealing.js';
import { serveOperations } from './serve-operations.js';
import { thisProcess } from './heartbeats.js';

/** Without a schedule only what waits in the inbox is done. */
export type WorkOptions = Omit<WorkSettings, 'syncSchedule'> & { readonly syncSchedule: string | null };

/** What else can be handed to it, as a value: the program leaves all of this out. */
export interface WorkTools extends Tools {
  readonly engine?: Engine;
  readonly random?: () => number;
  readonly calls?: Partial<HttpOptions>;
  readonly sync?: Partial<SyncOptions>;
}

export interface Working extends Running {
  readonly sync: Sync;
}

/** Reads the registry as jobs ask for it, and writes the mirror. */
export function startWork(settings: WorkOptions, tools: WorkTools): Promise<Working> {
  const { log, now, engine = openEngine(settings), random = Math.random } = tools;
  return openAll(async shutdown => {
    const health = createHealth();
    const { evidenceKeyFile: keyFile } = settings;
    const families = ['inbox', 'mirror', ...(keyFile === null ? [] : ['evidence' as const])] as const;
    const applied = await engine.prepare(families, now(), what => log.warn({ what }, WAITS));
    if (applied.length > 0) log.info({ applied: applied.map(({ file }) => file) }, 'databases migrated');

    const metrics = createMetrics(WEBHOOK_EVENTS);
    const client = createClient({
      ...settings,
      ...tools.calls,
      now,
      random,
      onCall: ({ route, status }) => metrics.registryRequest(route, status),
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
      lost: error => log.warn({ error: describeFailure(error) }, LOST),
    });
    shutdown.add(() => store.close());
    const { inbox, reader } = store;
    const parts = { ...store, client, now, random };
    const context = { ...(await createContext(settings, parts)), onRead: countReads(metrics) };

    const operations = await serveOperations({
      host: settings.operationsHost,
      port: settings.operationsPort,
      log,
      engine,
      logsOf: ['inbox', 'mirror'],
      metrics,
      findObstacle: () => inbox.findWriteObstacle(),
      broken: () => (health.isBroken() ? 'the mirror cannot be written' : null),
      stopping: health.isStopping,
      gauges: async () => {
        const { oldestRunAt, ...jobs } = await inbox.countJobs();
        metrics.jobs(jobs);
        metrics.pulse(await inbox.readPulse());
        for (const { name, ...held } of store.logs(now())) metrics.walHeld(name, held);
        metrics.reads(await readAges(reader));
        metrics.certificates(await readCertificateCounts(reader));
        metrics.findings((await readFindings(reader)).counts);
      },
    });
    shutdown.add(async () => operations?.close());

    const sync = createSync(context, {
      schedule: settings.syncSchedule,
      concurrency: settings.workerConcurrency,
      self: thisProcess('work', now()),
      log,
      findPauseReason: () => {
        const disk = engine.lookAtDisk();
        return disk?.paused ? describeDisk(disk) : null;
      },
      ...tools.sync,
      onEnded: ended => {
        metrics.jobEnded(ended.outcome);
        tools.sync?.onEnded?.(ended);
      },
    });
    await client.jwt.get();
    await sync.start();
    shutdown.add(() => sync.stop());
    shutdown.add(startSweep(context.certificates, log));
    shutdown.add(startCounting({ engine, mirror: store.mirror, now, log }));
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
function startSweep(certificates: CertificateStore, log: Tools['log']): () => Promise<void> {
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
  for (const resource of DRIFT_RESOURCES) metrics.drift(resource, 0);
  return ({ resource, state, ms, added, changed, removed, drift }) => {
    metrics.synced(resource, state, ms / 1000);
    metrics.rows(resource, 'added', added);
    metrics.rows(resource, 'changed', changed);
    metrics.rows(resource, 'removed', removed);
    metrics.drift(resource, drift);
  };
}
