import type { StoreFailure } from '../inbox/delivery.js';
import { describeDisk } from '../store/contract/disk.js';
import type { Engine } from '../store/engine.js';
import type { Family } from '../store/migrations.js';
import type { Log } from './log.js';
import type { Check } from './operations/checks.js';
import { isLoopback } from './operations/foreign.js';
import type { Metrics } from './operations/metrics.js';
import { createOperations } from './operations/operations.js';
import { type HttpListener, listenForPeople } from '../webhook/listen.js';
import { listenFrom } from './next-port.js';

export interface ServeOptions {
  readonly host: string;
  /** Where another process has it, as a second worker would find, the next free one is taken. */
  readonly port: number;
  readonly log: Log;
  readonly engine: Pick<Engine, 'lookAtDisk' | 'logBytes'>;
  readonly logsOf: readonly Family[];
  readonly metrics: Metrics;
  /** Why the inbox takes no write at present; null where it does. */
  readonly findObstacle: () => Promise<StoreFailure | null>;
  /** Why the process is not to be left running; null where it is. */
  readonly broken: () => string | null;
  readonly stopping: () => boolean;
  /** What else must hold for it to be ready. */
  readonly ready?: Readonly<Record<string, Check>>;
  /** Sets what is looked up rather than counted, each time the metrics are asked for. */
  readonly gauges?: () => void | Promise<void>;
}

/** Port 0 turns them off. */
export async function serveOperations(options: ServeOptions): Promise<HttpListener | null> {
  const { host, port: wanted, log, engine, metrics } = options;
  if (wanted === 0) return null;
  const operations = createOperations({
    live: { process: options.broken },
    ready: {
      /** What hinders it may hold a path: it is not shown. */
      inbox: async () => ((await options.findObstacle()) === null ? null : 'failed'),
      disk: () => {
        const disk = engine.lookAtDisk();
        return disk?.full ? describeDisk(disk) : null;
      },
      ...options.ready,
      shutdown: () => (options.stopping() ? 'shutting down' : null),
    },
    metrics: {
      contentType: metrics.contentType,
      text: async () => {
        for (const family of options.logsOf) {
          const bytes = engine.logBytes(family);
          if (bytes !== null) metrics.walBytes(family, bytes);
        }
        const disk = engine.lookAtDisk();
        if (disk !== null) metrics.disk(disk);
        await options.gauges?.();
        return metrics.text();
      },
    },
    onLoopback: () => isLoopback(listener.address),
  });
  const listener = await listenFrom(wanted, port => listenForPeople(operations, { host, port }));
  if (listener.port !== wanted) log.warn({ wanted, port: listener.port }, 'the port of operations was taken');
  return listener;
}
