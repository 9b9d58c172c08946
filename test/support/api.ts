import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { type ApiOptions, createApi } from '../../src/api/api.js';
import { createAuthenticator, type RefusalReason } from '../../src/api/authenticator.js';
import { createChangePoller } from '../../src/api/change-poller.js';
import { LISTENER_LIMITS } from '../../src/api/listener-limits.js';
import { createRateLimiter } from '../../src/api/rate-limiter.js';
import { DEFAULT_LISTS } from '../../src/api/token-rules.js';
import type { InboxPort } from '../../src/inbox/port.js';
import { createToken, hashToken, type TokenGrant } from '../../src/inbox/token.js';
import { readLastNumber } from '../../src/query/history/changes.js';
import { ALL_LISTS } from '../../src/query/lists/list-definitions.js';
import type { Reader } from '../../src/store/contract/reader.js';
import { listen, type ListenOptions } from '../../src/webhook/http-listener.js';
import { sendAndReadAll } from './wire.js';

export interface ApiStage {
  readonly url: string;
  readonly port: number;
  readonly clock: { at: number };
  /** A token that allows everything. */
  readonly token: string;
  /** Errors that requests caused. */
  readonly faults: unknown[];
  readonly refusals: RefusalReason[];
  readonly createToken: (grant: Partial<TokenGrant>) => Promise<string>;
  /** Sends a GET request, by default with the token that allows everything. */
  readonly get: (path: string, init?: RequestInit & { readonly token?: string | null }) => Promise<Response>;
  /** Returns the body of a GET request as JSON. */
  // biome-ignore lint: the answers are what the tests look into
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly getJson: (path: string, token?: string) => Promise<any>;
  /** Sends raw lines, and returns the whole response as text. */
  readonly sendRaw: (head: string, ...lines: readonly string[]) => Promise<string>;
  /** The number of requests that wait for changes. */
  readonly countWaiting: () => number;
}

interface ApiStageOptions extends Partial<ApiOptions> {
  readonly perMinute?: number;
  readonly limits?: Partial<ListenOptions>;
  readonly pollMs?: number;
  readonly at?: number;
}

export const EVERYTHING: Omit<TokenGrant, 'name'> = {
  scopes: ['lists', 'certificates', 'changes', 'status'],
  organizationIds: null,
  lists: ALL_LISTS.map(({ name }) => name),
};

/** Starts the HTTP API on a mirror. */
export async function openApi(
  { reader, inbox }: { readonly reader: Reader; readonly inbox: Pick<InboxPort, 'tokens'> },
  { perMinute = 1_000_000, limits = {}, pollMs = 10, at = Date.now(), ...options }: ApiStageOptions = {},
): Promise<ApiStage> {
  const clock = { at };
  const now = () => clock.at;
  const faults: unknown[] = [];
  const refusals: RefusalReason[] = [];
  const onFailure = (fault: unknown) => void faults.push(fault);
  const readers = options.readers ?? { withReader: work => work(reader) };
  const poller = createChangePoller({
    readLastNumber: () => readers.withReader(readLastNumber),
    onFailure,
    intervalMs: pollMs,
  });
  const onRefused = (reason: RefusalReason) => void refusals.push(reason);
  const authenticator = createAuthenticator({ tokens: inbox.tokens, now, onRefused, onFailure });
  const app = createApi({
    readers,
    now,
    authenticator,
    requestLimiter: createRateLimiter({ perMinute, now }),
    openPdf: async () => null,
    poller,
    corsOrigins: [],
    version: '0.0.0-test',
    onFailure,
    ...options,
  });
  const listening = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    ...LISTENER_LIMITS,
    shutdownGraceMs: 0,
    ...limits,
  });
  onTestFinished(async () => {
    poller.close();
    await listening.close();
  });
  const url = `http://127.0.0.1:${listening.port}`;
  let tokens = 0;
  const addToken = async (grant: Partial<TokenGrant>) => {
    const created = createToken(randomBytes);
    const defaults = { ...EVERYTHING, lists: DEFAULT_LISTS, name: `token-${(tokens += 1)}` };
    await inbox.tokens.create({ ...defaults, ...grant }, hashToken(created));
    return created;
  };
  const token = await addToken(EVERYTHING);
  const get: ApiStage['get'] = async (path, { token: sent = token, headers, ...init } = {}) => {
    const all = new Headers(headers);
    if (sent !== null && !all.has('authorization')) all.set('authorization', `Bearer ${sent}`);
    return await fetch(`${url}${path}`, { ...init, headers: all });
  };
  return {
    url,
    port: listening.port,
    clock,
    token,
    faults,
    refusals,
    createToken: addToken,
    get,
    getJson: async (path, sent = token) => {
      const response = await get(path, { token: sent });
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return await response.json();
    },
    sendRaw: (head, ...lines) =>
      sendAndReadAll(listening.port, `${[head, ...lines, 'connection: close'].join('\r\n')}\r\n\r\n`),
    countWaiting: poller.size,
  };
}
