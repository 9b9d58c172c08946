import { expect, test } from 'vitest';
import { createChangePoller } from '../../src/api/change-poller.js';
import type { Reader } from '../../src/store/contract/reader.js';
import { openApi } from '../support/api.js';
import { openFilledMirror } from '../support/mirror/open.js';
import { retirement } from '../support/mirror/rows.js';
import { openSocket } from '../support/wire.js';
import { until } from '../support/wait.js';

async function openScene(options: Parameters<typeof openApi>[1] = {}) {
  const mirror = await openFilledMirror();
  /** Readers that are in use. */
  const lent = { now: 0 };
  const readers = {
    withReader: async <T>(work: (reader: Reader) => Promise<T>): Promise<T> => {
      lent.now += 1;
      try {
        return await work(mirror.reader);
      } finally {
        lent.now -= 1;
      }
    },
  };
  const api = await openApi(mirror, { readers, ...options });
  const { last } = await api.getJson('/v1/changes?limit=1');
  const addRetirement = (id: string) =>
    mirror.read('retirements', [retirement('r-1-0'), retirement(id)], { organizationId: 'organization-1' });
  return { ...mirror, api, last, lent, addRetirement };
}

test('a waiting request is answered when a change is observed', async () => {
  const { api, last, addRetirement } = await openScene();
  const answer = api.getJson(`/v1/changes?after=${last}&wait=60`);
  await until(async () => api.countWaiting() === 1, 'the waiting request');
  await addRetirement('r-new');
  const { rows, next } = await answer;
  expect(rows).toEqual([
    expect.objectContaining({ change: 'added', row_id: 'r-new', resource: 'retirements' }),
  ]);
  expect(next).toBe(rows[0].number);
  expect(api.countWaiting()).toBe(0);
});

test('a request that does not wait is answered at once if there is no change', async () => {
  const { api, last } = await openScene();
  expect(await api.getJson(`/v1/changes?after=${last}`)).toMatchObject({ rows: [], next: last, last });
});

test('a request waits on after changes that its token may not read, and no longer than it asked for', async () => {
  const { api, last, addRetirement } = await openScene();
  const token = await api.createToken({ scopes: ['changes'], lists: ['projects'] });
  const answer = api.getJson(`/v1/changes?after=${last}&wait=2`, token);
  await until(async () => api.countWaiting() === 1, 'the waiting request');
  api.clock.at += 1000;
  await addRetirement('r-new');
  await until(async () => api.countWaiting() === 1, 'the request, which still waits');
  api.clock.at += 1000;
  const { rows, next } = await answer;
  expect(rows).toEqual([]);
  expect(next).toBeGreaterThan(last);
});

test('T107 a thousand waiting requests hold no database reader, and other requests are answered', async () => {
  const { api, last, lent, addRetirement } = await openScene({ pollMs: 100 });
  const tokens = await Promise.all(Array.from({ length: 10 }, () => api.createToken({})));
  const answers: ReturnType<typeof api.getJson>[] = [];
  for (const token of tokens) {
    // A slow machine does not accept a thousand new connections at once in time.
    const path = `/v1/changes?after=${last}&wait=60`;
    answers.push(...Array.from({ length: 100 }, () => api.getJson(path, token)));
    await until(async () => api.countWaiting() === answers.length, 'the waiting requests');
  }
  expect(lent.now).toBeLessThanOrEqual(1);
  expect((await api.getJson('/v1/retirements')).totals.rows).toBe(3);
  const refused = await api.get(`/v1/changes?after=${last}&wait=60`, { token: tokens[0] ?? '' });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  await addRetirement('r-new');
  const ended = await Promise.all(answers);
  for (const { rows } of ended) expect(rows).toHaveLength(1);
  expect(api.countWaiting()).toBe(0);
  const path = `/v1/changes?after=${ended[0].next}&wait=60`;
  const again = Array.from({ length: 100 }, () => api.getJson(path, tokens[0]));
  await until(async () => api.countWaiting() === 100, 'the waiting requests of a token that waited before');
  await addRetirement('r-newer');
  await Promise.all(again);
  expect(api.faults).toEqual([]);
});

test.each(['destroy', 'end'] as const)(
  'T107 a request whose client disconnects waits no longer: %s',
  async disconnect => {
    const { api, last } = await openScene();
    const socket = await openSocket(api.port);
    socket.write(
      `GET /v1/changes?after=${last}&wait=60 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${api.token}\r\n\r\n`,
    );
    await until(async () => api.countWaiting() === 1, 'the waiting request');
    socket[disconnect]();
    await until(async () => api.countWaiting() === 0, 'the end of the wait');
  },
);

test('T107 a client that reads nothing of its answer holds no reader and is disconnected', async () => {
  const { api, lent } = await openScene({ limits: { responseReadTimeoutMs: 100 } });
  const socket = await openSocket(api.port);
  socket.pause();
  const request = `GET /v1/openapi.json HTTP/1.1\r\nhost: x\r\n\r\n`;
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()));
  for (let n = 0; n < 50 && !socket.destroyed; n += 1) socket.write(request);
  expect((await api.getJson('/v1/retirements')).totals.rows).toBe(3);
  expect(lent.now).toBe(0);
  socket.on('error', () => undefined);
  socket.resume();
  await closed;
});

test('one query serves all waiting requests, and none is sent while nobody waits', async () => {
  let queries = 0;
  let last = 7;
  const poller = createChangePoller({
    readLastNumber: async () => {
      queries += 1;
      return last;
    },
    onFailure: () => undefined,
    intervalMs: 5,
  });
  const waits = Array.from({ length: 50 }, () =>
    poller.waitForChange(7, 60_000, new AbortController().signal),
  );
  await until(async () => queries >= 3, 'three polls');
  expect(queries).toBeLessThan(50);
  last = 8;
  await Promise.all(waits);
  const sent = queries;
  await new Promise(resolve => setTimeout(resolve, 30));
  expect(queries).toBeLessThanOrEqual(sent + 1);
  expect(poller.size()).toBe(0);
});

test('a poller that is closed wakes the requests that wait, and sends no query', async () => {
  let queries = 0;
  const readLastNumber = async () => (queries += 1);
  const poller = createChangePoller({ readLastNumber, onFailure: () => undefined, intervalMs: 1 });
  const wait = poller.waitForChange(7, 60_000, new AbortController().signal);
  poller.close();
  await wait;
  await new Promise(resolve => setTimeout(resolve, 30));
  expect(queries).toBe(0);
});
