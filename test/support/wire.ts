import { connect, type Socket } from 'node:net';

/** A connection that sends nothing by itself. */
export function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** All that the other side sends until it closes. */
export function readAll(socket: Socket): Promise<string> {
  return new Promise(resolve => {
    let text = '';
    socket.on('data', chunk => {
      text += chunk.toString();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}

/** Send raw text, and read until the other side closes. */
export async function talk(port: number, text: string): Promise<string> {
  const socket = await openSocket(port);
  socket.write(text);
  return readAll(socket);
}
