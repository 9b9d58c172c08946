import { createServer, type RequestListener, type Server } from 'node:http';
import type { HttpOptions } from '../../src/registry/http/http-types.js';
import {
  type AppJwt,
  isCredential,
  type AppToken,
  type InstallationToken,
  type TokenSource,
} from '../../src/registry/http/credential.js';
import { createHttpClient } from '../../src/registry/http/http-client.js';

/** Real time, no random jitter, no limit but what a test sets. */
export function testHttp(baseUrl: string, options: Partial<HttpOptions> = {}) {
  return createHttpClient({
    baseUrl,
    now: () => Date.now(),
    random: () => 0,
    sleep: async () => undefined,
    requestsPerSecond: Infinity,
    burst: 1000,
    concurrency: 16,
    ...options,
  });
}

export interface TestSource<T extends string> extends TokenSource<T> {
  readonly refused: string[];
}

/** Answers the first text until it is refused, then the next. Each but the first is fresh. */
function source<T extends string>(is: (text: string) => text is T, texts: readonly string[]): TestSource<T> {
  const refused: string[] = [];
  return {
    refused,
    get: async () => {
      const token = texts[Math.min(refused.length, texts.length - 1)] ?? '';
      if (!is(token)) throw new Error('not a credential');
      return { token, fresh: refused.length > 0 };
    },
    refuse: token => {
      refused.push(token);
    },
  };
}

export function jwtSource(...texts: readonly string[]): TestSource<AppJwt> {
  return source(isCredential<AppJwt>, texts.length === 0 ? ['jwt-text'] : texts);
}

export function appTokenSource(...texts: readonly string[]): TestSource<AppToken> {
  return source(isCredential<AppToken>, texts.length === 0 ? ['crs_app'] : texts);
}

export function installationTokenSource(...texts: readonly string[]): TestSource<InstallationToken> {
  return source(isCredential<InstallationToken>, texts.length === 0 ? ['crs_installation'] : texts);
}

export interface Loopback extends AsyncDisposable {
  readonly url: string;
  readonly server: Server;
}

/** A raw server on a free port: cut sockets and slow bytes cannot be shown with nock. */
export async function listenLoopback(handler: RequestListener): Promise<Loopback> {
  const server = createServer(handler);
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    server,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => {
        server.close(resolve);
      });
    },
  };
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export async function collectBytes(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await collect(chunks));
}
