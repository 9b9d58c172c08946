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

test('a request waits on after changes that its token may not read, and no longer than it asked for', async () => {
  const { api, last, addRetirement } = await openScene();
  const token = await api.createToken({ scopes: ['changes'], lists: ['projects'] });
  const answer = api.getJson(`/v1/changes?after=${last}&wait=2`, token);
  await until(async () => api.countWaiting() === 1, 'the waiting request');
  await addRetirement('r-new');
  api.clock.at += 2000;
  const { rows, next } = await answer;
  expect(rows).toEqual([]);
  expect(next).toBeGreaterThan(last);
});

test('T107 a thousand waiting requests hold no database reader, and other requests are answered', async () => {
  const { api, last, lent, addRetirement } = await openScene({ pollMs: 100 });
  const tokens = await Promise.all(Array.from({ length: 10 }, () => api.createToken({})));
  const answers = tokens.flatMap(token =>
    Array.from({ length: 100 }, () => api.getJson(`/v1/changes?after=${last}&wait=60`, token)),
  );
  await until(async () => api.countWaiting() === 1000, 'the waiting requests');
  expect(lent.now).toBeLessThanOrEqual(1);
  expect((await api.getJson('/v1/retirements')).totals.rows).toBe(3);
  const refused = await api.get(`/v1/changes?after=${last}&wait=60`, { token: tokens[0] ?? '' });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  await addRetirement('r-new');
  for (const { rows } of await Promise.all(answers)) expect(rows).toHaveLength(1);
  expect(api.countWaiting()).toBe(0);
  expect(api.faults).toEqual([]);
});

test('T107 a request whose client disconnects waits no longer', async () => {
  const { api, last } = await openScene();
  const socket = await openSocket(api.port);
  socket.write(
    `GET /v1/changes?after=${last}&wait=60 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${api.token}\r\n\r\n`,
  );
  await until(async () => api.countWaiting() === 1, 'the waiting request');
  socket.destroy();
  await until(async () => api.countWaiting() === 0, 'the end of the wait');
});

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
