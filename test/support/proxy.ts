import { createServer, request as forward } from 'node:http';
import { onTestFinished } from 'vitest';

/** Text is answered with 200, byte for byte; null lets the sandbox answer. */
export type ProxyAnswer = string | { readonly status: number; readonly text: string } | null;

/** Stands in front of a sandbox and answers in its place where it is told to. */
export async function startProxy(target: string, answer: (path: string) => ProxyAnswer): Promise<string> {
  const server = createServer((request, response) => {
    const given = answer(request.url ?? '/');
    if (given !== null) {
      const { status, text } = typeof given === 'string' ? { status: 200, text: given } : given;
      response.writeHead(status, { 'content-type': 'application/json' }).end(text);
      return;
    }
    const options = { method: request.method, headers: request.headers };
    const onward = forward(new URL(request.url ?? '/', target), options, incoming => {
      response.writeHead(incoming.statusCode ?? 502, incoming.headers);
      incoming.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}
