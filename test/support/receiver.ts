import { dirname } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Sqlite } from '../../src/store/sqlite/open-database.js';
import { createGroupCommit } from '../../src/webhook/group-commit.js';
import { createReceiverPort } from '../../src/store/sqlite/inbox/receiver-port.js';
import { createInboxPort } from '../../src/store/sqlite/inbox/inbox-port.js';
import type { InboxPort } from '../../src/inbox/port.js';
import { type ListenOptions, type HttpListener, listen } from '../../src/webhook/http-listener.js';
import { createPostHandler, type PostResult, type WebhookPost } from '../../src/webhook/post-handler.js';
import {
  type ReceiverAnswer,
  createReceiver,
  type ReceiverOptions as AppOptions,
} from '../../src/webhook/receiver.js';
import { signDelivery } from '../../src/webhook/signature.js';
import { startReceiverThread } from '../../src/webhook/start-receiver-thread.js';
import { temporaryInbox } from './inbox.js';

export const APP_ID = '0b6f9a52-6a0e-4f0e-9a0f-1f6f6d0c1a11';
export const SECRET = 'the-newest-secret-of-all';
export const OLD_SECRET = 'the-secret-before-that-one';

/** A thread can only run built code. */
export const THREAD_ENTRY = new URL('../../dist/src/app/receiver-thread.js', import.meta.url);

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly db: Sqlite;
  readonly inbox: InboxPort;
  readonly answers: ReceiverAnswer[];
  readonly listening: HttpListener;
  post(body: string | Buffer, headers?: Record<string, string>): Promise<Response>;
  /** Counts stored posts, including duplicates. */
  stored(): number;
}

interface ReceiverOptions
  extends Partial<ListenOptions>,
    Partial<Pick<AppOptions, 'headerPrefix' | 'identityHeaders'>> {
  readonly db?: Sqlite;
  readonly maxWaiting?: number;
  /** Whether to store in a thread, as the program does, or in this process. */
  readonly thread?: boolean;
}

/** Opens a receiver on a free port with a real inbox.db, and closes it after the test. */
export async function openReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const db = options.db ?? temporaryInbox();
  const commits = createGroupCommit({
    store: options.thread === true ? await createThreadedAccept(db) : createLocalAccept(db),
    ...(options.maxWaiting === undefined ? {} : { maxWaiting: options.maxWaiting }),
  });
  const answers: ReceiverAnswer[] = [];
  const receiver = createReceiver({
    headerPrefix: options.headerPrefix ?? 'registry',
    identityHeaders: options.identityHeaders ?? {},
    accept: post => commits.accept(post),
    now: Date.now,
    onAnswered: answer => answers.push(answer),
  });
  const listening = await listen(receiver, { host: '127.0.0.1', port: 0, shutdownGraceMs: 500, ...options });
  onTestFinished(async () => {
    await listening.close();
    await commits.close();
  });
  const url = `http://127.0.0.1:${listening.port}`;
  return {
    url,
    port: listening.port,
    db,
    inbox: createInboxPort(db, Date.now),
    answers,
    listening,
    post: (body, headers = {}) =>
      fetch(`${url}/webhooks`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : new Uint8Array(body),
      }),
    stored: () =>
      Number(db.prepare('SELECT count(*) + coalesce(sum(duplicates), 0) FROM deliveries').pluck().get()),
  };
}

type Accept = (posts: readonly WebhookPost[]) => Promise<readonly PostResult[]>;

const IDENTITY = { secrets: [SECRET, OLD_SECRET], appId: APP_ID };

export function createLocalAccept(db: Sqlite): Accept {
  const accept = createPostHandler({ ...IDENTITY, store: createReceiverPort(db, Date.now).store });
  return posts => accept(posts, Date.now());
}

async function createThreadedAccept(db: Sqlite): Promise<Accept> {
  const thread = await startReceiverThread({
    entry: THREAD_ENTRY,
    workerData: { ...IDENTITY, store: { dataDir: dirname(db.name), diskReserveMb: null, database: null } },
    now: Date.now,
    onFailed: () => undefined,
  });
  onTestFinished(() => thread.close());
  return posts => thread.accept(posts);
}

export function payloadOf(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    event: 'warehouseTransaction',
    installation: installationOf(),
    sender: { id: 'user-1', email: 'ann@example.org', fullName: 'Ann', profilePicture: null },
    ...overrides,
  };
}

export function installationOf(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 'installation-1',
    appId: APP_ID,
    permissions: { organization_info: 'VIEW' },
    organization: { id: 'organization-1', fullName: 'Harbour Wind Cooperative' },
    accessTokensUrl: 'undefined/app/installations/installation-1/accessTokens',
    ...overrides,
  };
}

export interface SignedPost {
  readonly body: string;
  readonly headers: Record<string, string>;
}

/** Creates a post as the registry sends it, with the signed payload `signed` and the unsigned fields `outer`. */
export function signedPost(
  signed: unknown = payloadOf(),
  { outer = signed, secret = SECRET }: { outer?: unknown; secret?: string } = {},
): SignedPost {
  const text = typeof signed === 'string' ? signed : JSON.stringify(signed);
  return rawSignedPost(Buffer.from(text).toString('base64'), { outer, secret });
}

/** Creates a genuine post as the receiver passes it to the post handler. */
export function genuinePost(overrides: Record<string, unknown> = {}, receivedAt = 0): WebhookPost {
  const { body, headers } = signedPost(payloadOf(overrides));
  return { body: Buffer.from(body), signature: headers['x-registry-signature-256'] ?? null, receivedAt };
}

/** Creates a post with any signed text, base64 or not. */
export function rawSignedPost(
  signedData: string,
  { outer = {}, secret = SECRET }: { outer?: unknown; secret?: string } = {},
): SignedPost {
  const unsignedFields = typeof outer === 'object' && outer !== null ? outer : {};
  return {
    body: JSON.stringify({ ...unsignedFields, signedData }),
    headers: { 'x-registry-signature-256': signDelivery(signedData, secret) },
  };
}

/** Returns the bytes of the whole HTTP request, for tests that use a bare connection. */
export function requestBytes({ body, headers }: SignedPost): Buffer {
  const lines = [
    'POST /webhooks HTTP/1.1',
    'host: 127.0.0.1',
    'content-type: application/json',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
