import { connect, type Socket } from 'node:net';

/** Opens a TCP connection to this machine. */
export function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Reads everything that the other side sends until it closes the connection. */
export function readUntilClosed(socket: Socket): Promise<string> {
  return new Promise(resolve => {
    let text = '';
    socket.on('data', chunk => {
      text += chunk.toString();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}

/** Sends raw text and reads the answer until the other side closes the connection. */
export async function sendAndReadAll(port: number, text: string): Promise<string> {
  const socket = await openSocket(port);
  socket.write(text);
  return readUntilClosed(socket);
}
