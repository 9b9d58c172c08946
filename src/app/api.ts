import { createApi } from '../api/api.js';
import { createAuthenticator } from '../api/authenticator.js';
import { createChangePoller } from '../api/change-poller.js';
import { LISTENER_LIMITS } from '../api/listener-limits.js';
import { createRateLimiter } from '../api/rate-limiter.js';
import { createReaderPool } from '../console/reader-pool.js';
import { toStoreFailure } from '../inbox/delivery.js';
import { readLastNumber } from '../query/history/changes.js';
import type { Engine } from '../store/engine.js';
import { type HttpListener, listen } from '../webhook/http-listener.js';
import { listenOnNextFreePort } from './next-free-port.js';
import { createMetrics } from './operations/metrics.js';
import { createProcessHealth, type ProcessDependencies, type RunningProcess } from './process-health.js';
import { serveOperations } from './serve-operations.js';
import { openWithCleanup } from './shutdown.js';

export interface ApiStartOptions {
  readonly engine: Engine;
  readonly apiHost: string;
  readonly apiPort: number;
  /** Whether the next free port may be used if the port is in use. It is for ports that the user did not choose. */
  readonly mayUseNextPort: boolean;
  readonly apiCorsOrigins: readonly string[];
  readonly apiRequestsPerMinute: number;
  readonly operationsHost: string;
  readonly operationsPort: number;
  readonly version: string;
}

/** Starts the HTTP API. It reads only, except for the time at which each token was last used. */
export function startApi(
  options: ApiStartOptions,
  { log, now }: ProcessDependencies,
): Promise<RunningProcess> {
  return openWithCleanup(async shutdown => {
    const { engine, apiHost: host } = options;
    const health = createProcessHealth();
    const readers = createReaderPool(engine.openReader);
    shutdown.add(() => readers.close());
    const readNewest = () => readers.withReader(readLastNumber);
    await readNewest();
    const { tokens, close } = await engine.openInbox(now);
    shutdown.add(close);
    const { pdfs, close: closePdfs } = await engine.openPdfs(now);
    shutdown.add(closePdfs);
    const metrics = createMetrics([]);
    const authenticator = createAuthenticator({
      tokens,
      now,
      onRefused: metrics.countApiRefusal,
      onFailure: error => log.warn({ err: error }, 'last use of tokens not recorded'),
    });
    shutdown.add(() => authenticator.close());
    const poller = createChangePoller({
      readLastNumber: readNewest,
      onFailure: error => log.warn({ err: error }, 'polling for changes failed'),
    });
    const app = createApi({
      readers,
      now,
      authenticator,
      requestLimiter: createRateLimiter({ perMinute: options.apiRequestsPerMinute, now }),
      openPdf: pdfs.open,
      poller,
      corsOrigins: options.apiCorsOrigins,
      version: options.version,
      onFailure: error => log.error({ err: error }, 'API request failed'),
    });
    const open = (port: number): Promise<HttpListener> => listen(app, { ...LISTENER_LIMITS, host, port });
    const listener = await (options.mayUseNextPort
      ? listenOnNextFreePort(options.apiPort, open)
      : open(options.apiPort));
    shutdown.add(() => listener.close());
    shutdown.add(() => poller.close());
    const operations = await serveOperations({
      host: options.operationsHost,
      port: options.operationsPort,
      log,
      engine,
      walDatabases: [],
      metrics,
      findWriteObstacle: () =>
        readNewest().then(
          () => null,
          (error: unknown) => toStoreFailure(error),
        ),
      findBrokenReason: () => (health.isBroken() ? 'broken' : null),
      isStopping: health.isStopping,
    });
    if (operations !== null) shutdown.add(() => operations.close());
    log.info({ host: listener.address, port: listener.port }, 'API listening');
    return {
      port: listener.port,
      operationsPort: operations?.port ?? null,
      failed: health.failed,
      stop: async () => {
        health.markStopping();
        await shutdown.close();
      },
    };
  });
}
