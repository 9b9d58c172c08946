/**
 * Starts the receiver process: a thread that stores deliveries, the webhook listener, and the operations listener. The receiver
 * opens the inbox and nothing else. It never reads the registry and holds no private key.
 */
import type { ReceiveSettings } from './config/settings-table.js';
import type { StoreFailure } from '../inbox/delivery.js';
import type { ProcessIdentity } from '../inbox/process.js';
import type { Engine } from '../store/engine.js';
import { openEngine } from '../store/open-engine.js';
import { createGroupCommit } from '../webhook/group-commit.js';
import { createMetrics, type Metrics } from './operations/metrics.js';
import { resolveBuiltFile } from '../package.js';
import { WEBHOOK_EVENTS } from '../registry/object-models.js';
import { type HttpListener, listen } from '../webhook/http-listener.js';
import type { WebhookPost } from '../webhook/post-handler.js';
import { createReceiver } from '../webhook/receiver.js';
import { createRejectionCounter } from '../webhook/rejection-counter.js';
import { startReceiverThread } from '../webhook/start-receiver-thread.js';
import { createAnswerLog } from './webhook-answer-log.js';
import { openWithCleanup } from './shutdown.js';
import type { ReceiverThreadData } from './receiver-thread.js';
import {
  CONNECTION_LOST,
  DATABASE_NOT_READY,
  createProcessHealth,
  type RunningProcess,
  type ProcessDependencies,
} from './process-health.js';
import { listenOnNextFreePort } from './next-free-port.js';
import { serveOperations } from './serve-operations.js';
import { startHeartbeats } from './heartbeats.js';
import { fingerprintProcess, RECEIVER_FINGERPRINT_HEADER, describeThisProcess } from './process-identity.js';
import { createWorkerCheck } from './worker-check.js';

type ReceiverThread = Awaited<ReturnType<typeof startReceiverThread>>;
type ProcessHealth = ReturnType<typeof createProcessHealth>;

const THREAD_ENTRY = resolveBuiltFile(import.meta.url, './receiver-thread.js');

/** `mayUseNextPort`: listen on the next free port if the given one is in use. It is for ports that the user did not choose. */
export type ReceiverStartOptions = ReceiveSettings & { readonly mayUseNextPort?: boolean };

/** Starts the webhook receiver in this process. */
export function startReceiver(
  settings: ReceiverStartOptions,
  dependencies: ProcessDependencies,
): Promise<RunningProcess> {
  const { log, now } = dependencies;
  return openWithCleanup(async shutdown => {
    const engine = openEngine(settings);
    const applied = await engine.prepare(['inbox'], now(), what => log.warn({ what }, DATABASE_NOT_READY));
    if (applied.length > 0) log.info({ applied: applied.map(({ file }) => file) }, 'inbox migrated');

    const health = createProcessHealth();
    const metrics = createMetrics(WEBHOOK_EVENTS);
    const thread = await startInboxThread(settings, dependencies, health);
    shutdown.add(() => thread.close());
    const self = describeThisProcess('receive', now());
    shutdown.add(
      startHeartbeats({
        writeHeartbeat: () => thread.heartbeat(self),
        onFailure: error => log.warn({ err: error }, 'heartbeat failed'),
      }),
    );
    const parts = { thread, self, engine, metrics, health };
    const operations = await serveReceiverOperations(settings, dependencies, parts);
    shutdown.add(async () => operations?.close());

    const counter = createRejectionCounter({ write: counts => thread.countRejected(counts), now });
    shutdown.add(() => counter.close());
    const inbox = createGroupCommit({
      concurrentCommits: settings.database === null ? 1 : 2,
      store: async (posts: readonly WebhookPost[]) => {
        const outcomes = await thread.accept(posts);
        const stored = outcomes.filter(({ kind }) => kind === 'stored').length;
        if (stored > 0) metrics.observeCommitSize(stored);
        return outcomes;
      },
    });
    shutdown.add(() => inbox.close());
    const answerLog = createAnswerLog({ log, metrics, counter });
    shutdown.add(() => answerLog.close());
    const receiver = createReceiver({
      headerPrefix: settings.headerPrefix,
      identityHeaders: { [RECEIVER_FINGERPRINT_HEADER]: fingerprintProcess(self) },
      accept: post => inbox.accept(post),
      now,
      onAnswered: answerLog.recordAnswer,
    });
    const { host, mayUseNextPort = false } = settings;
    const open = (port: number) => listen(receiver, { host, port });
    const listener = await (mayUseNextPort ? listenOnNextFreePort(settings.port, open) : open(settings.port));
    shutdown.add(() => listener.close());
    log.info({ host, port: listener.port, operations: operations?.port }, 'receiver started');

    return {
      port: listener.port,
      operationsPort: operations?.port ?? null,
      failed: health.failed,
      stop: async () => {
        health.markStopping();
        await shutdown.close();
        log.info({}, 'receiver stopped');
      },
    };
  });
}

/** Starts the receiver thread, which verifies webhook deliveries and stores them in the inbox. */
function startInboxThread(
  { webhookSecrets: secrets, appId, dataDir, diskReserveMb, database }: ReceiverStartOptions,
  { log, now }: ProcessDependencies,
  health: ProcessHealth,
): Promise<ReceiverThread> {
  const workerData: ReceiverThreadData = { store: { dataDir, diskReserveMb, database }, secrets, appId };
  return startReceiverThread({
    entry: THREAD_ENTRY,
    workerData,
    now,
    onFailed: health.markBroken,
    onNotice: (error: StoreFailure) => log.warn({ error }, CONNECTION_LOST),
  });
}

interface ReceiverParts {
  readonly thread: ReceiverThread;
  /** Identifies this process in its heartbeats. */
  readonly self: ProcessIdentity;
  readonly engine: Engine;
  readonly metrics: Metrics;
  readonly health: ProcessHealth;
}

/** Starts the listener of /livez, /readyz and /metrics for the receiver. Returns null if the listener is turned off. */
function serveReceiverOperations(
  { operationsHost, operationsPort }: ReceiverStartOptions,
  { log, now }: ProcessDependencies,
  { thread, self, engine, metrics, health }: ReceiverParts,
): Promise<HttpListener | null> {
  const workerCheck = createWorkerCheck({
    startedAt: self.startedAt,
    now,
    hasSeenWorker: async () => (await thread.heartbeat(self)).workerEverSeen,
  });
  return serveOperations({
    host: operationsHost,
    port: operationsPort,
    log,
    engine,
    walDatabases: ['inbox'],
    metrics,
    findWriteObstacle: () => thread.findWriteObstacle(),
    findBrokenReason: () => (health.isBroken() ? 'deliveries cannot be stored' : null),
    isStopping: health.isStopping,
    extraReadyChecks: { worker: workerCheck },
    updateGauges: async () => metrics.setInboxStatus(await thread.heartbeat(self)),
  });
}
