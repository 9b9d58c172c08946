import type { ReceiveSettings } from './config/settings.js';
import type { StoreFailure } from '../inbox/delivery.js';
import { openEngine } from '../store/open.js';
import { createGroupCommit } from '../webhook/group-commit.js';
import { createMetrics } from './operations/metrics.js';
import { builtBeside } from '../package.js';
import { WEBHOOK_EVENTS } from '../registry/model.js';
import { listen } from '../webhook/listen.js';
import type { WebhookPost } from '../webhook/posts.js';
import { createReceiver } from '../webhook/receiver.js';
import { createRejectionCounter } from '../webhook/rejection-counter.js';
import { startReceiverThread } from '../webhook/thread.js';
import { createAnswerLog } from './answer-log.js';
import { openAll } from './shutdown.js';
import type { ReceiverThreadData } from './receiver-thread.js';
import { LOST, WAITS, createHealth, type Running, type Tools } from './running.js';
import { listenFrom } from './next-port.js';
import { serveOperations } from './serve-operations.js';
import { createNeighbourCheck, keepBeating, markOf, RECEIVER_HEADER, thisProcess } from './heartbeats.js';

/** Beside this file once it is built. */
const ENTRY = builtBeside(import.meta.url, './receiver-thread.js');

/** A port that nobody asked for by name may be another one. */
export type ReceiveOptions = ReceiveSettings & { readonly orNextPort?: boolean };

/** The receiver: it sees the inbox and nothing else. */
export function startReceive(settings: ReceiveOptions, { log, now }: Tools): Promise<Running> {
  return openAll(async shutdown => {
    const engine = openEngine(settings);
    const applied = await engine.prepare(['inbox'], now(), what => log.warn({ what }, WAITS));
    if (applied.length > 0) log.info({ applied: applied.map(({ file }) => file) }, 'inbox migrated');

    const health = createHealth();
    const metrics = createMetrics(WEBHOOK_EVENTS);
    const { webhookSecrets: secrets, appId } = settings;
    const { dataDir, diskReserveMb, database } = settings;
    const workerData: ReceiverThreadData = { store: { dataDir, diskReserveMb, database }, secrets, appId };
    const thread = await startReceiverThread({
      entry: ENTRY,
      workerData,
      now,
      failed: health.fail,
      news: (error: StoreFailure) => log.warn({ error }, LOST),
    });
    shutdown.add(() => thread.close());
    const me = thisProcess('receive', now());
    shutdown.add(
      keepBeating({
        beat: () => thread.heartbeat(me),
        failed: error => log.warn({ err: error }, 'no heartbeat could be written this time'),
      }),
    );
    const operations = await serveOperations({
      host: settings.operationsHost,
      port: settings.operationsPort,
      log,
      engine,
      logsOf: ['inbox'],
      metrics,
      findObstacle: () => thread.findObstacle(),
      broken: () => (health.isBroken() ? 'deliveries cannot be stored' : null),
      stopping: health.isStopping,
      ready: {
        worker: createNeighbourCheck({
          startedAt: me.startedAt,
          now,
          workerEverSeen: async () => (await thread.heartbeat(me)).workerEverSeen,
        }),
      },
      gauges: async () => metrics.pulse(await thread.heartbeat(me)),
    });
    shutdown.add(async () => operations?.close());

    const counter = createRejectionCounter({ write: counted => thread.countRejected(counted), now });
    shutdown.add(() => counter.close());
    const inbox = createGroupCommit({
      concurrentCommits: database === null ? 1 : 2,
      store: async (posts: readonly WebhookPost[]) => {
        const outcomes = await thread.accept(posts);
        const stored = outcomes.filter(({ kind }) => kind === 'stored').length;
        if (stored > 0) metrics.committed(stored);
        return outcomes;
      },
    });
    shutdown.add(() => inbox.close());
    const answers = createAnswerLog({ log, metrics, counter });
    shutdown.add(() => answers.close());
    const receiver = createReceiver({
      headerPrefix: settings.headerPrefix,
      identityHeaders: { [RECEIVER_HEADER]: markOf(me) },
      accept: post => inbox.accept(post),
      now,
      onAnswered: answers.answered,
    });
    const { host, orNextPort = false } = settings;
    const open = (port: number) => listen(receiver, { host, port });
    const listening = await (orNextPort ? listenFrom(settings.port, open) : open(settings.port));
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
