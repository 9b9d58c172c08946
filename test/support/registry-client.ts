import { createServer, type RequestListener } from 'node:http';
import { createAppClient } from '../../src/registry/app-client.js';
import { RegistryError } from '../../src/registry/errors.js';
import type { HttpOptions } from '../../src/registry/http/http-types.js';
import {
  type AppJwt,
  isCredential,
  type AppToken,
  type InstallationToken,
  type TokenSource,
} from '../../src/registry/http/credential.js';
import { createHttpClient } from '../../src/registry/http/http-client.js';
import { createOrganizationClient } from '../../src/registry/organization-client.js';
import { createTokenClient } from '../../src/registry/token-client.js';
import { listenOnFreePort } from './listen.js';

/** Creates an HTTP client with real time, no jitter, and no limits except those that a test sets. */
export function createTestHttpClient(baseUrl: string, options: Partial<HttpOptions> = {}) {
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

export interface TestTokenSource<T extends string> extends TokenSource<T> {
  readonly refused: string[];
}

/**
 * Creates a source that returns the first token until it is refused, and then the next one. All tokens but the first are
 * fresh.
 */
function createTokenSource<T extends string>(
  isToken: (text: string) => text is T,
  tokens: readonly string[],
): TestTokenSource<T> {
  const refused: string[] = [];
  return {
    refused,
    get: async () => {
      const token = tokens[Math.min(refused.length, tokens.length - 1)] ?? '';
      if (!isToken(token)) throw new Error('not a credential');
      return { token, fresh: refused.length > 0 };
    },
    discard: token => {
      refused.push(token);
    },
  };
}

export function createJwtSource(...tokens: readonly string[]): TestTokenSource<AppJwt> {
  return createTokenSource(isCredential<AppJwt>, tokens.length === 0 ? ['jwt-text'] : tokens);
}

export function createAppTokenSource(...tokens: readonly string[]): TestTokenSource<AppToken> {
  return createTokenSource(isCredential<AppToken>, tokens.length === 0 ? ['crs_app'] : tokens);
}

export function createInstallationTokenSource(
  ...tokens: readonly string[]
): TestTokenSource<InstallationToken> {
  return createTokenSource(
    isCredential<InstallationToken>,
    tokens.length === 0 ? ['crs_installation'] : tokens,
  );
}

/** Starts an HTTP server on a free port, for cut connections and slow bytes, which nock cannot simulate. */
export async function startLoopbackServer(handler: RequestListener) {
  const server = createServer(handler);
  return { url: `http://127.0.0.1:${await listenOnFreePort(server)}`, server };
}

/** Returns the error of a call that must fail. */
export async function getFailure(call: Promise<unknown>): Promise<RegistryError> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof RegistryError) return error;
  throw new Error(`expected a RegistryError, got ${String(error)}`);
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export async function collectBytes(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await collect(chunks));
}

/** Creates the clients of an app and its installation on the organization `org-1`, with fixed tokens. */
export function createTestClients(baseUrl: string, options: Partial<HttpOptions> = {}) {
  const http = createTestHttpClient(baseUrl, options);
  const installed = createInstallationTokenSource();
  return {
    http,
    app: createAppClient({ http, token: createJwtSource() }),
    organization: createOrganizationClient({
      http,
      organizationId: 'org-1',
      appId: 'app-1',
      token: installed,
    }),
    token: createTokenClient({ http, token: createAppTokenSource() }),
  };
}

export type TestClients = ReturnType<typeof createTestClients>;
