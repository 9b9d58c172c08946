import { createServer, type RequestListener, type Server } from 'node:http';
import { findForeign, isLoopback } from './foreign.js';
import { sendProblem } from './problem.js';

export interface OperationsAddress {
  readonly host: string;
  /** 0 takes any free port; whether operations are off is for the caller to decide. */
  readonly port: number;
}

export interface OperationsListener {
  readonly port: number;
  close(): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 5000;
const REQUEST_TIMEOUT_MS = 5000;
const CHECK_INTERVAL_MS = 1000;
const MAX_CONNECTIONS = 100;

export function listenForOperations(
  handler: RequestListener,
  { host, port }: OperationsAddress,
): Promise<OperationsListener> {
  let onLoopback = false;
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
    },
    (request, response) => {
      const foreign = findForeign(request.headers, onLoopback);
      if (foreign === null) return handler(request, response);
      return sendProblem(response, foreign.status, foreign.detail);
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address : { address: host, port };
      onLoopback = isLoopback(bound.address);
      resolve({
        port: bound.port,
        close: () => closeAll(server),
      });
    });
  });
}

/** Nobody's work hangs on an answer here: what is open is cut. */
function closeAll(server: Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
