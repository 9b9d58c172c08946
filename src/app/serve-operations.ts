import type { StoreFailure } from '../inbox/delivery.js';
import { describeDisk } from '../store/contract/disk.js';
import type { Engine } from '../store/engine.js';
import type { Family } from '../store/migrations.js';
import type { Log } from './log.js';
import type { HealthCheck } from './operations/health-checks.js';
import { isLoopbackAddress } from './operations/cross-site.js';
import type { Metrics } from './operations/metrics.js';
import { createOperationsApp } from './operations/operations.js';
import { type HttpListener, listenForPeople } from '../webhook/listen.js';
import { listenOnNextFreePort } from './next-free-port.js';

export interface ServeOperationsOptions {
  readonly host: string;
  /** Where another process has it, as a second worker would find, the next free one is taken. */
  readonly port: number;
  readonly log: Log;
  readonly engine: Pick<Engine, 'lookAtDisk' | 'logBytes'>;
  readonly logFamilies: readonly Family[];
  readonly metrics: Metrics;
  /** Why the inbox takes no write at present; null where it does. */
  readonly findObstacle: () => Promise<StoreFailure | null>;
  /** Why the process is not to be left running; null where it is. */
  readonly findBrokenReason: () => string | null;
  readonly isStopping: () => boolean;
  /** What else must hold for it to be ready. */
  readonly extraReadyChecks?: Readonly<Record<string, HealthCheck>>;
  /** Sets what is looked up rather than counted, each time the metrics are asked for. */
  readonly updateGauges?: () => void | Promise<void>;
}

/** Port 0 turns them off. */
export async function serveOperations(options: ServeOperationsOptions): Promise<HttpListener | null> {
  const { host, port: wanted, log, engine, metrics } = options;
  if (wanted === 0) return null;
  const operations = createOperationsApp({
    live: { process: options.findBrokenReason },
    ready: {
      /** What hinders it may hold a path: it is not shown. */
      inbox: async () => ((await options.findObstacle()) === null ? null : 'failed'),
      disk: () => {
        const disk = engine.lookAtDisk();
        return disk?.full ? describeDisk(disk) : null;
      },
      ...options.extraReadyChecks,
      shutdown: () => (options.isStopping() ? 'shutting down' : null),
    },
    metrics: {
      contentType: metrics.contentType,
      renderText: async () => {
        for (const family of options.logFamilies) {
          const bytes = engine.logBytes(family);
          if (bytes !== null) metrics.setWalBytes(family, bytes);
        }
        const disk = engine.lookAtDisk();
        if (disk !== null) metrics.setDisk(disk);
        await options.updateGauges?.();
        return metrics.renderText();
      },
    },
    isOnLoopback: () => isLoopbackAddress(listener.address),
  });
  const listener = await listenOnNextFreePort(wanted, port => listenForPeople(operations, { host, port }));
  if (listener.port !== wanted) log.warn({ wanted, port: listener.port }, 'the port of operations was taken');
  return listener;
}
