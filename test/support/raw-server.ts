import { createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface RawServer {
  readonly url: string;
  /** The head of each request, as it came. */
  readonly requests: readonly string[];
  /** Connections that were opened, and those that are gone. */
  connections(): number;
  closed(): number;
  /** Those over which a request came and that are still there. One that a client opens ahead may go or stay unused. */
  held(): number;
}

/** A server that speaks in bytes: what no HTTP server would send, and nothing, can be sent too. */
export async function listenRaw(answer: (socket: Socket, count: number) => void): Promise<RawServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const asked = new Set<Socket>();
  let connections = 0;

  const server = createServer(socket => {
    connections += 1;
    sockets.add(socket);
    let received = '';
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      asked.delete(socket);
    });
    socket.on('data', data => {
      asked.add(socket);
      received += data.toString('latin1');
      for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
        requests.push(received.slice(0, end));
        received = received.slice(end + 4);
        answer(socket, requests.length);
      }
    });
  });
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    connections: () => connections,
    closed: () => connections - sockets.size,
    held: () => asked.size,
  };
}

/** A whole answer. */
export function rawAnswer(status: number, body: string | Buffer, headers: readonly string[] = []): Buffer {
  const bytes = Buffer.from(body);
  const head = [`HTTP/1.1 ${status} X`, `content-length: ${bytes.length}`, ...headers, '', ''].join('\r\n');
  return Buffer.concat([Buffer.from(head), bytes]);
}

/** Waits for a condition, with a generous deadline. */
export async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 2000; tries += 1) {
    if (holds()) return;
    await new Promise(resolve => {
      setTimeout(resolve, 10);
    });
  }
  throw new Error('the condition never held');
}
