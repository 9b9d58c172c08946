import { connect, type Socket } from 'node:net';

const REQUESTS_PER_WRITE = 2000;

/** Requests that a client may repeat without end. T18 holds for all of them. */
export const REPEATED_REQUESTS = {
  'the front page': 'GET / HTTP/1.1\r\nhost: x\r\n\r\n',
  'a path that is not there': 'GET /nothing HTTP/1.1\r\nhost: x\r\n\r\n',
  'forged posts': 'POST /webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}',
} as const;

/** Sends requests without end and reads no response, until the server closes the connection. */
export function pipelineUntilClosed(port: number, request: string): Promise<void> {
  const bytes = Buffer.from(request.repeat(REQUESTS_PER_WRITE));
  const socket = connect(port, '127.0.0.1', () => keepWriting(socket, bytes));
  socket.pause();
  socket.on('error', () => undefined);
  return new Promise(resolve => {
    socket.on('close', () => resolve());
  });
}

function keepWriting(socket: Socket, bytes: Buffer): void {
  socket.write(bytes, error => {
    if (error === undefined || error === null) setImmediate(keepWriting, socket, bytes);
  });
}
