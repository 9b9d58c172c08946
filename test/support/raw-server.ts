import { createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { listenOnFreePort } from './listen.js';

export interface RawServer {
  readonly url: string;
  /** The head of each request, as received. */
  readonly requests: readonly string[];
  /** Connections that were ever opened. */
  countConnections(): number;
  countClosed(): number;
  /** Open connections that have carried a request. Fetch may also open connections ahead and never use them. */
  countActive(): number;
}

/** Starts a server that sends raw bytes, or nothing, for each request. It can send what no HTTP server would. */
export async function startRawServer(
  respond: (socket: Socket, requestCount: number) => void,
): Promise<RawServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const activeSockets = new Set<Socket>();
  let connections = 0;

  const server = createServer(socket => {
    connections += 1;
    sockets.add(socket);
    let received = '';
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      activeSockets.delete(socket);
    });
    socket.on('data', data => {
      activeSockets.add(socket);
      received += data.toString('latin1');
      for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
        requests.push(received.slice(0, end));
        received = received.slice(end + 4);
        respond(socket, requests.length);
      }
    });
  });
  const port = await listenOnFreePort(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    countConnections: () => connections,
    countClosed: () => connections - sockets.size,
    countActive: () => activeSockets.size,
  };
}

/** Formats a complete HTTP response. */
export function formatRawResponse(
  status: number,
  body: string | Buffer,
  headers: readonly string[] = [],
): Buffer {
  const bytes = Buffer.from(body);
  const head = [`HTTP/1.1 ${status} X`, `content-length: ${bytes.length}`, ...headers, '', ''].join('\r\n');
  return Buffer.concat([Buffer.from(head), bytes]);
}
