import { join } from 'node:path';
import { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { createConsoleActions } from '../../src/app/console-actions.js';
import { measureFile as inspect } from '../../src/cli/certificate-files.js';
import { readSavedQueries } from '../../src/cli/saved-queries.js';
import { type ConsoleOptions, createConsole } from '../../src/console/console.js';
import { createVisitorKeys, type VisitorKeys } from '../../src/console/guard/visitor-keys.js';
import { createLiveUpdates } from '../../src/console/live/live-updates.js';
import { createReaderPool } from '../../src/console/reader-pool.js';
import type { OpenReader } from '../../src/store/contract/reader.js';
import type { Engine } from '../../src/store/engine.js';
import { openEngine } from '../../src/store/open-engine.js';
import { openReader } from '../../src/store/sqlite/reader.js';
import { listenForPeople, type ListenOptions } from '../../src/webhook/http-listener.js';
import { readStateFingerprint } from '../../src/query/inbox/activity.js';
import { findContradictedColumns } from '../../src/sync/derived-columns.js';
import { NOON, temporaryInbox } from './inbox.js';
import { openMirror, type SqliteMirror } from './mirror/open.js';
import { type Tables, openTablesIn } from './tables.js';
import { sendAndReadAll } from './wire.js';

export interface ConsoleVisit {
  readonly port: number;
  readonly keys: VisitorKeys;
  readonly clock: { at: number };
  /** Errors that pages caused. */
  readonly faults: unknown[];
  /** The visitor's cookie header. */
  readonly cookie: string;
  /** Requests a page as this visitor. */
  readonly open: (path: string) => Promise<Response>;
  /** Submits a form as a browser does. */
  readonly send: (
    path: string,
    values?: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ) => Promise<Response>;
  /** Sends a raw request, and returns the whole response as text. */
  readonly sendRaw: (head: string, ...lines: readonly string[]) => Promise<string>;
}

const NO_QUERIES: ConsoleOptions['sql'] = {
  runQuery: async () => ({ columns: [], rows: Readable.from([]) }),
  describeSchema: () => [],
  savedQueries: [],
};
const NO_PDFS: ConsoleOptions['certificateFiles'] = {
  openFile: async () => null,
  inspectFile: async () => null,
};
const SECRET = Buffer.alloc(32, 7);

/** Starts a console on a mirror, with a visitor who has signed in. */
export async function visitConsole(
  open: () => Promise<OpenReader>,
  options: Partial<ConsoleOptions> = {},
  limits: Partial<ListenOptions> = {},
): Promise<ConsoleVisit> {
  const clock = { at: NOON };
  const now = () => clock.at;
  const keys = createVisitorKeys({ secret: SECRET, now });
  const faults: unknown[] = [];
  const onFailure = (fault: unknown) => void faults.push(fault);
  const readers = createReaderPool(open);
  const liveUpdates = createLiveUpdates({
    readFingerprint: () => readers.withReader(reader => readStateFingerprint(reader, now())),
    onFailure: onFailure,
    intervalMs: 10,
  });
  const port = () => listening.port;
  const app = createConsole({
    readers,
    now,
    liveUpdates: liveUpdates,
    hostNames: [],
    keys,
    port,
    proxySignIn: null,
    onFailure: onFailure,
    actions: null,
    allowsOrders: false,
    comparison: null,
    webhookUrl: null,
    version: '1.2.3',
    sql: NO_QUERIES,
    certificateFiles: NO_PDFS,
    findContradictedColumns: findContradictedColumns,
    describeCheckpoint: async () => null,
    demoActions: null,
    ...options,
  });
  const listening = await listenForPeople(app, { host: '127.0.0.1', port: 0, ...limits });
  onTestFinished(async () => {
    liveUpdates.close();
    await listening.close();
    await readers.close();
  });
  const visitorKey = keys.exchangeSignInKey(keys.createSignInKey()) ?? '';
  const cookie = `carbon-mirror-${listening.port}=${visitorKey}`;
  return {
    port: listening.port,
    keys,
    clock,
    faults,
    cookie,
    open: path =>
      fetch(`http://127.0.0.1:${listening.port}${path}`, { headers: { cookie }, redirect: 'manual' }),
    send: (path, values = {}, signal) =>
      fetch(`http://127.0.0.1:${listening.port}${path}`, {
        method: 'POST',
        headers: {
          cookie,
          'sec-fetch-site': 'same-origin',
          origin: `http://127.0.0.1:${listening.port}`,
        },
        body: new URLSearchParams({ page_token: keys.createPageToken(visitorKey).pageToken, ...values }),
        redirect: 'manual',
        signal: signal ?? null,
      }),
    sendRaw: (head, ...lines) =>
      sendAndReadAll(
        listening.port,
        [`${head} HTTP/1.1`, ...lines, 'connection: close', '', ''].join('\r\n'),
      ),
  };
}

export interface ConsoleStage extends ConsoleVisit {
  readonly scene: SqliteMirror;
  /** Tables of the mirror and the inbox. */
  readonly tables: Tables;
  /** Log entries about the actions that people requested. */
  readonly loggedActions: unknown[];
  /** Fetches a page as text, and follows one redirect. */
  readonly page: (path: string) => Promise<string>;
}

interface ConsoleStageOptions extends Partial<ConsoleOptions> {
  /** Whether pages may start jobs. */
  readonly canAct?: boolean;
  readonly limits?: Partial<ListenOptions>;
}

/** Opens a console on a mirror in files. Its clock is at the current time, because freshness depends on it. */
export async function openConsoleStage(stage: ConsoleStageOptions = {}): Promise<ConsoleStage> {
  const { canAct = false, limits = {}, ...options } = stage;
  const scene = await openMirror();
  temporaryInbox(scene.folder);
  scene.clock.at = Date.now();
  const files = { mirrorFile: join(scene.folder, 'mirror.db'), inboxFile: join(scene.folder, 'inbox.db') };
  const engine = openEngine({ dataDir: scene.folder, diskReserveMb: null, database: null });
  const asked: unknown[] = [];
  const log = { info: (fact: unknown) => void asked.push(fact) };
  const actions = canAct ? createConsoleActions(() => engine.openInbox(Date.now), log) : null;
  const visit = await visitConsole(
    async () => openReader(files),
    { actions, sql: createSqlOptions(engine), certificateFiles: createCertificateFiles(scene), ...options },
    limits,
  );
  return {
    ...visit,
    scene,
    tables: openTablesIn(scene.folder),
    loggedActions: asked,
    page: async path => {
      const answer = await visit.open(path);
      const redirect = answer.headers.get('location');
      return await (redirect === null ? answer : await visit.open(redirect)).text();
    },
  };
}

function createSqlOptions({ runSqlQuery: ask, describeSchema }: Engine): ConsoleOptions['sql'] {
  return { runQuery: ask, describeSchema, savedQueries: readSavedQueries() };
}

function createCertificateFiles({ pdfs }: SqliteMirror): ConsoleOptions['certificateFiles'] {
  const store = pdfs(1_000_000);
  return { openFile: store.open, inspectFile: file => inspect(store, file) };
}

/** Returns the text of a page without its markup. */
export function getPageText(markup: string): string {
  return markup
    .replace(/<[^>]*>/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
