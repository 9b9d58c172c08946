import type { StoreFailure } from '../inbox/delivery.js';
import { describeDisk } from '../store/contract/disk-space.js';
import type { Engine } from '../store/engine.js';
import type { DatabaseName } from '../store/migrations.js';
import type { Log } from './log.js';
import type { HealthCheck } from './operations/health-checks.js';
import type { Metrics } from './operations/metrics.js';
import { createOperationsApp } from './operations/operations.js';
import { isLoopbackHost } from '../text/loopback.js';
import { type HttpListener, listenForPeople } from '../webhook/http-listener.js';
import { listenOnNextFreePort } from './next-free-port.js';

export interface ServeOperationsOptions {
  readonly host: string;
  /** 0 turns the operations listener off. If the port is in use, as by another worker, the next free one is used. */
  readonly port: number;
  readonly log: Log;
  readonly engine: Pick<Engine, 'measureDisk' | 'walBytes'>;
  /** The databases whose write-ahead logs are measured. */
  readonly walDatabases: readonly DatabaseName[];
  readonly metrics: Metrics;
  /** Returns why the inbox cannot be written at present, or null if it can. */
  readonly findWriteObstacle: () => Promise<StoreFailure | null>;
  /** Returns why the process should be restarted, or null if it should keep running. */
  readonly findBrokenReason: () => string | null;
  readonly isStopping: () => boolean;
  /** Further checks of /readyz. */
  readonly extraReadyChecks?: Readonly<Record<string, HealthCheck>>;
  /** Called for each scrape. Sets the gauges whose values must be looked up. */
  readonly updateGauges?: () => void | Promise<void>;
}

/** Starts the listener of /livez, /readyz and /metrics. Returns null if `port` is 0. */
export async function serveOperations(options: ServeOperationsOptions): Promise<HttpListener | null> {
  const { host, port: configuredPort, log, engine, metrics } = options;
  if (configuredPort === 0) return null;
  const app = createOperationsApp({
    live: { process: options.findBrokenReason },
    ready: {
      /** The obstacle itself is not shown, because it may contain a path. */
      inbox: async () => ((await options.findWriteObstacle()) === null ? null : 'failed'),
      disk: () => {
        const disk = engine.measureDisk();
        return disk?.full ? describeDisk(disk) : null;
      },
      ...options.extraReadyChecks,
      shutdown: () => (options.isStopping() ? 'shutting down' : null),
    },
    metrics: {
      contentType: metrics.contentType,
      renderText: async () => {
        updateStorageGauges(options);
        await options.updateGauges?.();
        return metrics.renderText();
      },
    },
    isOnLoopback: () => isLoopbackHost(listener.address),
  });
  const listener = await listenOnNextFreePort(configuredPort, port => listenForPeople(app, { host, port }));
  if (listener.port !== configuredPort)
    log.warn({ configuredPort, port: listener.port }, 'operations port was in use; using the next free one');
  return listener;
}

/** Sets the metrics of disk space and write-ahead log size. */
function updateStorageGauges({ engine, metrics, walDatabases }: ServeOperationsOptions): void {
  for (const database of walDatabases) {
    const bytes = engine.walBytes(database);
    if (bytes !== null) metrics.setWalBytes(database, bytes);
  }
  const disk = engine.measureDisk();
  if (disk !== null) metrics.setDisk(disk);
}
