import { createServer, type RequestListener } from 'node:http';

export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

/** The browsers of one machine. */
const LOOPBACK = '127.0.0.1';
const LIMITS = { headersTimeout: 5000, requestTimeout: 10_000, connectionsCheckingInterval: 1000 } as const;
const MAX_CONNECTIONS = 200;

/** On loopback and nowhere else. What is open when it closes is cut: nobody's work hangs on it. */
export function listen(handler: RequestListener, port: number): Promise<Listening> {
  const server = createServer(LIMITS, handler);
  server.maxConnections = MAX_CONNECTIONS;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, LOOPBACK, () => {
      server.off('error', reject);
      const address = server.address();
      resolve({
        port: typeof address === 'object' && address !== null ? address.port : port,
        close: () =>
          new Promise(closed => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      });
    });
  });
}
