import type { Socket } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { formatFileName } from '../../src/console/downloads.js';
import { createReaderPool } from '../../src/console/reader-pool.js';
import { openReader } from '../../src/store/sqlite/reader.js';
import type { OpenReader, Reader } from '../../src/store/contract/reader.js';
import { type ConsoleStage, openConsoleStage } from '../support/console.js';
import { temporaryInbox } from '../support/inbox.js';
import { openMirror } from '../support/mirror/open.js';
import { retirements } from '../support/mirror/rows.js';
import { openSocket } from '../support/wire.js';

/** More connections than there are readers. */
const CONNECTIONS = 6;
/** More rows than the buffer of a waiting answer holds. */
const ROWS = 200;

const requestOf = (path: string, { cookie }: ConsoleStage, version = '1.1'): string =>
  `GET ${path} HTTP/${version}\r\nhost: localhost\r\ncookie: ${cookie}\r\n\r\n`;

/** Opens connections that send these requests and never read an answer. */
async function openUnreadConnections(
  stage: ConsoleStage,
  paths: readonly string[],
  connections = CONNECTIONS,
): Promise<Socket[]> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => openSocket(stage.port)));
  for (const socket of sockets) {
    socket.on('error', () => undefined).pause();
    socket.write(paths.map(path => requestOf(path, stage)).join(''));
    onTestFinished(() => void socket.destroy());
  }
  return sockets;
}

test.each(['stay open', 'close'])(
  'T87 downloads pipelined behind an event stream do not occupy the readers while their connections %s',
  async end => {
    const stage = await openConsoleStage();
    await stage.scene.read('retirements', retirements(ROWS));
    const sockets = await openUnreadConnections(stage, ['/live', '/retirements.json']);
    await Promise.all(sockets.map(socket => new Promise(resolve => socket.once('readable', resolve))));
    if (end === 'close') for (const socket of sockets) socket.destroy();
    for (let asked = 0; asked < CONNECTIONS; asked += 1) expect((await stage.open('/')).status).toBe(200);
  },
);

test('T87 an unread download is cut after a time without progress, and its reader is released', async () => {
  let ended = 0;
  const real = await openReaderOfRetirements();
  const stream: Reader['stream'] = async function* endless(asked) {
    try {
      for (;;) yield* await real.all(asked);
    } finally {
      ended += 1;
    }
  };
  const readers = createReaderPool(async () => createReaderWith({ stream }));
  const stage = await openConsoleStage({ readers, limits: { responseReadTimeoutMs: 100 } });
  const sockets = await openUnreadConnections(stage, ['/retirements.json']);
  for (let asked = 0; asked < CONNECTIONS; asked += 1) expect((await stage.open('/help')).status).toBe(200);
  await expect.poll(() => ended).toBe(CONNECTIONS);
  for (const socket of sockets) socket.resume();
  await expect.poll(() => sockets.every(socket => socket.destroyed)).toBe(true);
  expect(stage.faults).toEqual([]);
});

test('a page whose visitor disconnected while waiting for a reader is not rendered', async () => {
  let searches = 0;
  const all: Reader['all'] = async () => {
    searches += 1;
    return [];
  };
  const readers = createReaderPool(async () => createReaderWith({ all }));
  const stage = await openConsoleStage({ readers });
  const ends: (() => void)[] = [];
  const busy = Array.from({ length: 4 }, () =>
    readers.withReader(() => new Promise<void>(resolve => ends.push(resolve))),
  );
  const [socket] = await openUnreadConnections(stage, ['/search?q=ab'], 1);
  await stage.open('/console.css');
  socket?.destroy();
  await stage.open('/console.css');
  for (const end of ends) end();
  await Promise.all(busy);
  expect((await stage.open('/help')).status).toBe(200);
  expect(searches).toBe(0);
});

/** Opens a reader of a mirror with two retirements. */
async function openReaderOfRetirements(): Promise<OpenReader> {
  const { folder, read } = await openMirror();
  temporaryInbox(folder);
  await read('retirements', retirements(2, 'x'.repeat(10_000)));
  const reader = openReader({ mirrorFile: join(folder, 'mirror.db'), inboxFile: join(folder, 'inbox.db') });
  onTestFinished(() => reader.close());
  return reader;
}

/** Returns a reader with some methods replaced. */
function createReaderWith(replaced: Partial<OpenReader>): OpenReader {
  const reader: OpenReader = {
    all: async () => [],
    stream: async function* () {},
    inSnapshot: async work => await work(reader),
    formatQuery: () => '',
    asText: instant => sql`${instant}`,
    close: async () => undefined,
    ...replaced,
  };
  return reader;
}

test.each(['1.0', '1.1'])(
  'a download over HTTP/%s that fails midway does not look complete',
  async version => {
    const failure = new Error('the disk failed');
    const real = await openReaderOfRetirements();
    const stream: Reader['stream'] = async function* broken(asked) {
      yield* await real.all(asked);
      throw failure;
    };
    const readers = createReaderPool(async () => createReaderWith({ stream }));
    const stage = await openConsoleStage({ readers });
    const socket = await openSocket(stage.port);
    const reset = new Promise(resolve => socket.once('error', resolve));
    socket.resume().write(requestOf('/retirements.csv', stage, version));
    expect(await reset).toMatchObject({ code: 'ECONNRESET' });
    expect(stage.faults).toEqual([failure]);
  },
);

test.each([
  ['year=2025', '2025-12-31T23:59:59.999Z', 'retirement-totals-2025-as-of-2025-12-31'],
  ['year=&vintage=2021', null, 'retirement-totals'],
  [
    'since=24h&until=now',
    '2025-12-31T12:00:00.000Z',
    'retirement-totals-since-24h-until-now-as-of-2025-12-31T12-00-00.000Z',
  ],
  ['from=a%22/b', null, 'retirement-totals-from-a-b'],
])('the name of a file repeats the period and the date that were asked for: %s', (query, at, name) => {
  const request = { query: new URLSearchParams(query), at, isDemo: false };
  expect(formatFileName('retirement-totals', request)).toBe(name);
  expect(formatFileName('retirement-totals', { ...request, isDemo: true })).toBe(`demo-${name}`);
});
