import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { MIRROR_CHECKS } from '../../src/cli/commands/doctor/mirror.js';
import type { Reader } from '../../src/store/contract/reader.js';
import { migrateFile } from '../../src/store/sqlite/migrate.js';
import { boxOf } from '../support/box.js';
import type { RejectionCount } from '../../src/inbox/rejected.js';
import { readStatus } from '../../src/query/status.js';
import { openReader } from '../../src/store/sqlite/reader.js';
import { createRejectionCounter, findPrefix } from '../../src/webhook/rejected.js';
import { openReceiver, payloadOf, signedPost } from '../support/receiver.js';
import { acceptedDelivery, NOON, temporaryFolder, temporaryInbox } from '../support/inbox.js';

function aRejected(overrides: Partial<RejectionCount> = {}): RejectionCount {
  return {
    reason: 'signature_not_valid',
    status: 401,
    headerPrefix: 'registry',
    rejected: 1,
    newestMsAgo: 0,
    ...overrides,
  };
}

async function lookAt(check: 'rejected_webhooks' | 'duplicates', reader: Reader, now: number) {
  const status = await readStatus(reader, now);
  return await MIRROR_CHECKS[check]({ reader, now, status, work: null });
}

test('T01 T02 each rejected webhook tells its reason and whose signature header came, and nothing is stored', async () => {
  const receiver = await openReceiver();
  const { body, headers } = signedPost(payloadOf(), { secret: 'another secret' });
  const signature = headers['x-registry-signature-256'] ?? '';
  const posts: [string, Record<string, string>][] = [
    [body, headers],
    [body, {}],
    [body, { 'x-icr-signature-256': signature }],
    [body, { [`x-${'a'.repeat(41)}-signature-256`]: signature }],
    [body, { 'X-ICR-Signature-256': signature, 'x-registry-signature-256': '' }],
    ['{}', headers],
    ['x'.repeat(70_000), headers],
    [body, { ...headers, 'content-type': 'text/plain' }],
  ];
  for (const [text, given] of posts) await (await receiver.post(text, given)).arrayBuffer();
  expect(
    receiver.answers.map(({ status, rejected }) => [status, rejected?.reason, rejected?.headerPrefix]),
  ).toEqual([
    [401, 'signature_not_valid', 'registry'],
    [401, 'no_signature', ''],
    [401, 'no_signature', 'icr'],
    [401, 'no_signature', 'other'],
    [401, 'signature_not_valid', 'registry'],
    [400, 'no_signed_text', 'registry'],
    [413, 'too_large', 'registry'],
    [415, 'wrong_content_type', 'registry'],
  ]);
  expect(receiver.answers[0]?.sender).toBe('127.0.0.1');
  expect(receiver.stored()).toBe(0);
});

test('T01 a flood of forged webhooks is written together, the first of them at once', async () => {
  const written: (readonly RejectionCount[])[] = [];
  const counter = createRejectionCounter({
    write: async rejected => void written.push(rejected),
    now: () => NOON,
    everyMs: 60_000,
  });
  counter.count(aRejected(), 401);
  await expect.poll(() => written).toEqual([[aRejected()]]);
  for (let post = 0; post < 10_000; post += 1) counter.count(aRejected(), 401);
  counter.count(aRejected({ reason: 'too_large' }), 413);
  await counter.close();
  expect(written.slice(1)).toEqual([
    [aRejected({ rejected: 10_000 }), aRejected({ reason: 'too_large', status: 413 })],
  ]);
});

test('T01 where none came for a while the next is written at once, and at the end what waits', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const written: (readonly RejectionCount[])[] = [];
  const counter = createRejectionCounter({
    write: async rejected => void written.push(rejected),
    now: () => NOON,
    everyMs: 60_000,
  });
  const count = async (afterMs: number) => {
    await vi.advanceTimersByTimeAsync(afterMs);
    counter.count(aRejected(), 401);
    await vi.advanceTimersByTimeAsync(1);
    return written.length;
  };
  expect([await count(0), await count(10), await count(60_000), await count(180_000)]).toEqual([1, 1, 2, 4]);
  await counter.close();
  expect([written.length, vi.getTimerCount()]).toEqual([4, 0]);
});

test('T01 a counter closes when what it was writing is written', async () => {
  let end = () => {};
  const write = () => new Promise<void>(resolve => (end = resolve));
  const counter = createRejectionCounter({ write, now: () => NOON });
  counter.count(aRejected(), 401);
  await new Promise(resolve => setTimeout(resolve, 5));
  let isClosed = false;
  const closed = counter.close().then(() => (isClosed = true));
  await new Promise(setImmediate);
  expect(isClosed).toBe(false);
  end();
  await closed;
});

test('T01 only a header that is named wholly as a signature is one', () => {
  const prefixOf = (name: string) => findPrefix({ [name]: 'sha256=' }, 'registry');
  const names = ['x-icr-signature-256', 'y-x-icr-signature-256', 'x-icr-signature-2567'];
  expect(names.map(prefixOf)).toEqual(['icr', '', '']);
});

test('T01 rejected webhooks that could not be written are counted on', async () => {
  const written: (readonly RejectionCount[])[] = [];
  let failures = 2;
  const counter = createRejectionCounter({
    write: async rejected => {
      if (failures-- > 0) throw new Error('locked');
      written.push(rejected);
    },
    now: () => NOON,
    everyMs: 5,
  });
  for (let post = 0; post < 3; post += 1) counter.count(aRejected(), 401);
  await expect.poll(() => written).toEqual([[aRejected({ rejected: 3 })]]);
  await counter.close();
});

test('T01 whoever invents header names fills neither memory nor table', async () => {
  const db = temporaryInbox();
  const { countRejected: count } = boxOf(db).at(NOON);
  const kinds: number[] = [];
  for (let write = 0; write < 5; write += 1) {
    const counter = createRejectionCounter({
      write: async rejected => {
        kinds.push(rejected.length);
        await count(rejected);
      },
      now: () => NOON,
    });
    for (let n = 0; n < 100; n += 1) {
      counter.count(aRejected({ headerPrefix: `p-${write}-${n}`, reason: 'no_signature' }), 401);
    }
    await counter.close();
  }
  expect(Math.max(...kinds)).toBeLessThanOrEqual(33);
  expect(
    db.prepare('SELECT count(*) <= 33 AS few, sum(rejected) AS rejected FROM rejected_webhooks').get(),
  ).toEqual({
    few: 1,
    rejected: 500,
  });
});

test('T01 the oldest minutes go when there are too many', async () => {
  const db = temporaryInbox();
  const { countRejected: count } = boxOf(db).at(NOON + 20_002 * 60_000);
  const minutes = Array.from({ length: 20_003 }, (_, n) => aRejected({ newestMsAgo: (20_002 - n) * 60_000 }));
  await count(minutes);
  expect(db.prepare('SELECT count(*) AS rows, min(minute) AS oldest FROM rejected_webhooks').get()).toEqual({
    rows: 20_001,
    oldest: '2026-05-04T12:02',
  });
});

test('T01 T02 the doctor tells a wrong secret from a wrong prefix, and fails until something genuine comes', async () => {
  const { inbox, reader } = temporaryPlace();
  const findings = async () => {
    const found = await lookAt('rejected_webhooks', reader, NOON + 60_000);
    return [found].flat();
  };
  expect(await findings()).toMatchObject([{ state: 'ok' }]);

  const { accept, at } = boxOf(inbox);
  await at(NOON).countRejected([
    aRejected({ rejected: 3 }),
    aRejected({ rejected: 2, newestMsAgo: 86_400_000 * 2 }),
  ]);
  await at(NOON).countRejected([aRejected({ reason: 'no_signature', headerPrefix: 'icr' })]);
  expect(await findings()).toEqual([
    {
      check: 'rejected_webhooks',
      state: 'fail',
      found: '3 webhooks rejected since 12:00 UTC: signature not valid (401)',
      todo: expect.stringContaining('Check that WEBHOOK_SECRETS matches the secret at the registry.'),
    },
    {
      check: 'rejected_webhooks',
      state: 'fail',
      found: '1 webhook rejected since 12:00 UTC: signed in x-icr-signature-256',
      todo: expect.stringContaining('the sender uses "icr".'),
    },
  ]);
  await accept([acceptedDelivery({ receivedAt: NOON + 1 })], NOON + 1);
  expect((await findings()).map(({ state }) => state)).toEqual(['warn', 'warn']);
});

test('T20 the doctor tells of a delivery that comes again and again', async () => {
  const { inbox, reader } = temporaryPlace();
  const { accept } = boxOf(inbox);
  const captured = acceptedDelivery();
  const finding = () => lookAt('duplicates', reader, NOON + 3_000_000);
  expect(await finding()).toMatchObject({ state: 'ok', found: 'no delivery arrived twice in the last hour' });
  await accept([captured, acceptedDelivery(), captured], NOON);
  expect(await finding()).toMatchObject({ state: 'ok', found: expect.stringContaining('arrived 2 times') });
  for (let minute = 0; minute < 3; minute += 1) {
    const at = NOON + minute * 60_000;
    await accept(
      Array.from({ length: 20 }, () => ({ ...captured, receivedAt: at })),
      at,
    );
  }
  expect(await finding()).toEqual({
    check: 'duplicates',
    state: 'warn',
    found: 'the same delivery arrived 62 times in the last hour, most recently as number 4',
    todo: expect.stringContaining('carbon-mirror deliveries show 4'),
  });
  expect(await lookAt('duplicates', reader, NOON + 3_600_000 * 2)).toMatchObject({ state: 'ok' });
  await accept([{ ...captured, receivedAt: NOON + 130_000 }], NOON + 130_000);
  expect((await readStatus(reader, NOON)).newestDeliveryAt).toBe(new Date(NOON + 130_000).toISOString());
  expect((await readStatus(reader, NOON)).newestDeliveryAt).toBe(new Date(NOON + 130_000).toISOString());
});

function temporaryPlace() {
  const folder = temporaryFolder();
  const inbox = temporaryInbox(folder);
  const files = { mirrorFile: join(folder, 'mirror.db'), inboxFile: join(folder, 'inbox.db') };
  migrateFile(files.mirrorFile, 'mirror', new Date(NOON).toISOString());
  const reader = openReader(files);
  onTestFinished(() => reader.close());
  return { inbox, reader };
}
