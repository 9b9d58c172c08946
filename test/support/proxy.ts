import { createServer, request as forward } from 'node:http';
import { onTestFinished } from 'vitest';

/** Stands in front of a sandbox; where `answer` gives text, that text is what the caller gets, byte for byte. */
export async function startProxy(target: string, answer: (path: string) => string | null): Promise<string> {
  const server = createServer((request, response) => {
    const text = answer(request.url ?? '/');
    if (text !== null) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(text);
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
