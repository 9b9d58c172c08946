import { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { type ConsoleOptions, createConsole } from '../../src/console/console.js';
import { createVisitorKeys, type VisitorKeys } from '../../src/console/guard/keys.js';
import { createLiveUpdates } from '../../src/console/live/updates.js';
import { createReaderPool } from '../../src/console/reader-pool.js';
import type { OpenReader } from '../../src/store/contract/reader.js';
import { listenForPeople, type ListenOptions } from '../../src/webhook/listen.js';
import { readPulse } from '../../src/query/inbox/activity.js';
import { contradictedColumns } from '../../src/sync/derived.js';
import { NOON } from './inbox.js';
import { talk } from './wire.js';

export interface Visit {
  readonly port: number;
  readonly keys: VisitorKeys;
  readonly clock: { at: number };
  /** What went wrong with pages. */
  readonly faults: unknown[];
  /** The visitor's own key, as a browser sends it. */
  readonly cookie: string;
  /** A page as this visitor sees it. */
  readonly open: (path: string) => Promise<Response>;
  /** A form of one of its pages, as a browser sends it. */
  readonly send: (
    path: string,
    values?: Readonly<Record<string, string>>,
    left?: AbortSignal,
  ) => Promise<Response>;
  /** One request as raw text; the head and the body of what came. */
  readonly ask: (head: string, ...lines: readonly string[]) => Promise<string>;
}

const NO_QUESTIONS: ConsoleOptions['asking'] = {
  ask: async () => ({ columns: [], rows: Readable.from([]) }),
  describeSchema: () => [],
  ready: [],
};
const NO_PDFS: ConsoleOptions['pdfs'] = { open: async () => null, inspect: async () => null };
const SECRET = Buffer.alloc(32, 7);

/** A console over a mirror, and a visitor whom it let in. */
export async function visitConsole(
  open: () => Promise<OpenReader>,
  options: Partial<ConsoleOptions> = {},
  limits: Partial<ListenOptions> = {},
): Promise<Visit> {
  const clock = { at: NOON };
  const now = () => clock.at;
  const keys = createVisitorKeys({ secret: SECRET, now });
  const faults: unknown[] = [];
  const failed = (fault: unknown) => void faults.push(fault);
  const readers = createReaderPool(open);
  const changes = createLiveUpdates({
    readState: () => readers.use(reader => readPulse(reader, now())),
    onFailure: failed,
    intervalMs: 10,
  });
  const port = () => listening.port;
  const app = createConsole({
    readers,
    now,
    changes,
    hostNames: [],
    keys,
    port,
    failed,
    actions: null,
    comparison: null,
    webhookUrl: null,
    version: '1.2.3',
    asking: NO_QUESTIONS,
    pdfs: NO_PDFS,
    contradicted: contradictedColumns,
    sealedIn: async () => null,
    demoActions: null,
    ...options,
  });
  const listening = await listenForPeople(app, { host: '127.0.0.1', port: 0, ...limits });
  onTestFinished(async () => {
    changes.close();
    await listening.close();
    await readers.close();
  });
  const cookie = `carbon-mirror-${listening.port}=${keys.exchange(keys.mint())}`;
  return {
    port: listening.port,
    keys,
    clock,
    faults,
    cookie,
    open: path =>
      fetch(`http://127.0.0.1:${listening.port}${path}`, { headers: { cookie }, redirect: 'manual' }),
    send: (path, values = {}, left) =>
      fetch(`http://127.0.0.1:${listening.port}${path}`, {
        method: 'POST',
        headers: { cookie, 'sec-fetch-site': 'same-origin' },
        body: new URLSearchParams(values),
        redirect: 'manual',
        signal: left ?? null,
      }),
    ask: (head, ...lines) =>
      talk(listening.port, [`${head} HTTP/1.1`, ...lines, 'connection: close', '', ''].join('\r\n')),
  };
}
