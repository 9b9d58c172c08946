import type { ReceiveSettings } from './config/settings.js';
import type { StoreFailure } from '../inbox/delivery.js';
import { openEngine } from '../store/open.js';
import { createGroupCommit } from '../webhook/group-commit.js';
import { createMetrics } from './operations/metrics.js';
import { resolveBuiltFile } from '../package.js';
import { WEBHOOK_EVENTS } from '../registry/model.js';
import { listen } from '../webhook/listen.js';
import type { WebhookPost } from '../webhook/posts.js';
import { createReceiver } from '../webhook/receiver.js';
import { createRejectionCounter } from '../webhook/rejection-counter.js';
import { startReceiverThread } from '../webhook/thread.js';
import { createAnswerLog } from './answer-log.js';
import { openInOrder } from './shutdown.js';
import type { ReceiverThreadData } from './receiver-thread.js';
import {
  CONNECTION_LOST,
  DATABASE_NOT_READY,
  createProcessHealth,
  type RunningProcess,
  type ProcessDependencies,
} from './running-process.js';
import { listenOnNextFreePort } from './next-free-port.js';
import { serveOperations } from './serve-operations.js';
import {
  createWorkerCheck,
  startHeartbeats,
  fingerprintProcess,
  RECEIVER_FINGERPRINT_HEADER,
  describeThisProcess,
} from './heartbeats.js';

/** Beside this file once it is built. */
const ENTRY = resolveBuiltFile(import.meta.url, './receiver-thread.js');

/** A port that nobody asked for by name may be another one. */
export type ReceiverStartOptions = ReceiveSettings & { readonly mayUseNextPort?: boolean };

/** The receiver: it sees the inbox and nothing else. */
export function startReceiver(
  settings: ReceiverStartOptions,
  { log, now }: ProcessDependencies,
): Promise<RunningProcess> {
  return openInOrder(async shutdown => {
    const engine = openEngine(settings);
    const applied = await engine.prepare(['inbox'], now(), what => log.warn({ what }, DATABASE_NOT_READY));
    if (applied.length > 0) log.info({ applied: applied.map(({ file }) => file) }, 'inbox migrated');

    const health = createProcessHealth();
    const metrics = createMetrics(WEBHOOK_EVENTS);
    const { webhookSecrets: secrets, appId } = settings;
    const { dataDir, diskReserveMb, database } = settings;
    const workerData: ReceiverThreadData = { store: { dataDir, diskReserveMb, database }, secrets, appId };
    const thread = await startReceiverThread({
      entry: ENTRY,
      workerData,
      now,
      onFailed: health.fail,
      onNotice: (error: StoreFailure) => log.warn({ error }, CONNECTION_LOST),
    });
    shutdown.add(() => thread.close());
    const me = describeThisProcess('receive', now());
    shutdown.add(
      startHeartbeats({
        writeHeartbeat: () => thread.heartbeat(me),
        onFailure: error => log.warn({ err: error }, 'no heartbeat could be written this time'),
      }),
    );
    const operations = await serveOperations({
      host: settings.operationsHost,
      port: settings.operationsPort,
      log,
      engine,
      logFamilies: ['inbox'],
      metrics,
      findObstacle: () => thread.findWriteObstacle(),
      findBrokenReason: () => (health.isBroken() ? 'deliveries cannot be stored' : null),
      isStopping: health.isStopping,
      extraReadyChecks: {
        worker: createWorkerCheck({
          startedAt: me.startedAt,
          now,
          hasSeenWorker: async () => (await thread.heartbeat(me)).workerEverSeen,
        }),
      },
      updateGauges: async () => metrics.setPulse(await thread.heartbeat(me)),
    });
    shutdown.add(async () => operations?.close());

    const counter = createRejectionCounter({ write: counted => thread.countRejected(counted), now });
    shutdown.add(() => counter.close());
    const inbox = createGroupCommit({
      concurrentCommits: database === null ? 1 : 2,
      store: async (posts: readonly WebhookPost[]) => {
        const outcomes = await thread.accept(posts);
        const stored = outcomes.filter(({ kind }) => kind === 'stored').length;
        if (stored > 0) metrics.observeCommitSize(stored);
        return outcomes;
      },
    });
    shutdown.add(() => inbox.close());
    const answers = createAnswerLog({ log, metrics, counter });
    shutdown.add(() => answers.close());
    const receiver = createReceiver({
      headerPrefix: settings.headerPrefix,
      identityHeaders: { [RECEIVER_FINGERPRINT_HEADER]: fingerprintProcess(me) },
      accept: post => inbox.accept(post),
      now,
      onAnswered: answers.recordAnswer,
    });
    const { host, mayUseNextPort: orNextPort = false } = settings;
    const open = (port: number) => listen(receiver, { host, port });
    const listening = await (orNextPort ? listenOnNextFreePort(settings.port, open) : open(settings.port));
    shutdown.add(() => listening.close());
    log.info({ host, port: listening.port, operations: operations?.port }, 'receiving webhooks');

    return {
      port: listening.port,
      operationsPort: operations?.port ?? null,
      failed: health.failed,
      stop: async () => {
        health.beginStop();
        await shutdown.close();
        log.info({}, 'receiver stopped');
      },
    };
  });
}
