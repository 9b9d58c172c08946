import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { MIRROR_CHECKS } from '../../src/cli/commands/doctor/mirror-checks.js';
import type { Reader } from '../../src/store/contract/reader.js';
import { migrateFile } from '../../src/store/sqlite/migrate.js';
import type { RejectionCount } from '../../src/inbox/rejection.js';
import { openTestInbox, acceptedDelivery, NOON, temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { readStatus } from '../../src/query/status.js';
import { openReader } from '../../src/store/sqlite/reader.js';
import { createRejectionCounter, findSignaturePrefix } from '../../src/webhook/rejection-counter.js';
import { openReceiver, payloadOf, signedPost } from '../support/receiver.js';

function createRejectionCount(overrides: Partial<RejectionCount> = {}): RejectionCount {
  return {
    reason: 'signature_not_valid',
    status: 401,
    headerPrefix: 'registry',
    rejected: 1,
    newestMsAgo: 0,
    ...overrides,
  };
}

async function runDoctorCheck(check: 'rejected_webhooks' | 'duplicates', reader: Reader, now: number) {
  const status = await readStatus(reader, now);
  return await MIRROR_CHECKS[check]({ reader, now, status, workSettings: null, env: {} });
}

test('T01 T02 each rejected webhook is reported with its reason and header prefix, and nothing is stored', async () => {
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
  for (const [text, sentHeaders] of posts) await (await receiver.post(text, sentHeaders)).arrayBuffer();
  expect(
    receiver.answers.map(({ status, rejection }) => [status, rejection?.reason, rejection?.headerPrefix]),
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

test('T01 the first rejected webhook is written at once, and a flood after it in one write', async () => {
  const written: (readonly RejectionCount[])[] = [];
  const counter = createRejectionCounter({
    write: async rejected => void written.push(rejected),
    now: () => NOON,
    intervalMs: 60_000,
  });
  counter.count(createRejectionCount(), 401);
  await expect.poll(() => written).toEqual([[createRejectionCount()]]);
  for (let post = 0; post < 10_000; post += 1) counter.count(createRejectionCount(), 401);
  counter.count(createRejectionCount({ reason: 'too_large' }), 413);
  await counter.close();
  expect(written.slice(1)).toEqual([
    [createRejectionCount({ rejected: 10_000 }), createRejectionCount({ reason: 'too_large', status: 413 })],
  ]);
});

test('T01 the first rejection after a pause is written at once, and closing writes the rest', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const written: (readonly RejectionCount[])[] = [];
  const counter = createRejectionCounter({
    write: async rejected => void written.push(rejected),
    now: () => NOON,
    intervalMs: 60_000,
  });
  const count = async (afterMs: number) => {
    await vi.advanceTimersByTimeAsync(afterMs);
    counter.count(createRejectionCount(), 401);
    await vi.advanceTimersByTimeAsync(1);
    return written.length;
  };
  expect([await count(0), await count(10), await count(60_000), await count(180_000)]).toEqual([1, 1, 2, 4]);
  await counter.close();
  expect([written.length, vi.getTimerCount()]).toEqual([4, 0]);
});

test('T01 closing a counter waits for its write in progress', async () => {
  let endWrite = () => {};
  const write = () => new Promise<void>(resolve => (endWrite = resolve));
  const counter = createRejectionCounter({ write, now: () => NOON });
  counter.count(createRejectionCount(), 401);
  await new Promise(resolve => setTimeout(resolve, 5));
  let isClosed = false;
  const closed = counter.close().then(() => (isClosed = true));
  await new Promise(setImmediate);
  expect(isClosed).toBe(false);
  endWrite();
  await closed;
});

test.each([
  ['x-icr-signature-256', 'icr'],
  ['y-x-icr-signature-256', ''],
  ['x-icr-signature-2567', ''],
  ['x-a_b-signature-256', 'other'],
  [`x-${'a'.repeat(40)}-signature-256`, 'a'.repeat(40)],
  [`x-${'a'.repeat(41)}-signature-256`, 'other'],
])(
  'T01 only a whole header name counts as a signature header, and an unusual prefix as other: %s',
  (name, prefix) => {
    expect(findSignaturePrefix({ [name]: 'sha256=' }, 'registry')).toBe(prefix);
  },
);

test('T01 counts that could not be written are written later', async () => {
  const written: (readonly RejectionCount[])[] = [];
  let failures = 2;
  const counter = createRejectionCounter({
    write: async rejected => {
      if (failures-- > 0) throw new Error('locked');
      written.push(rejected);
    },
    now: () => NOON,
    intervalMs: 5,
  });
  for (let post = 0; post < 3; post += 1) counter.count(createRejectionCount(), 401);
  await expect.poll(() => written).toEqual([[createRejectionCount({ rejected: 3 })]]);
  await counter.close();
});

test('T01 a sender who invents header prefixes fills neither memory nor table', async () => {
  const db = temporaryInbox();
  const { countRejected: count } = openTestInbox(db).at(NOON);
  const countsPerWrite: number[] = [];
  for (let write = 0; write < 5; write += 1) {
    const counter = createRejectionCounter({
      write: async rejected => {
        countsPerWrite.push(rejected.length);
        await count(rejected);
      },
      now: () => NOON,
    });
    for (let n = 0; n < 100; n += 1) {
      counter.count(createRejectionCount({ headerPrefix: `p-${write}-${n}`, reason: 'no_signature' }), 401);
    }
    await counter.close();
  }
  expect(Math.max(...countsPerWrite)).toBeLessThanOrEqual(33);
  expect(
    db.prepare('SELECT count(*) <= 33 AS few, sum(rejected) AS rejected FROM rejected_webhooks').get(),
  ).toEqual({
    few: 1,
    rejected: 500,
  });
});

test('T01 the oldest minutes are removed beyond the row limit', async () => {
  const db = temporaryInbox();
  const { countRejected: count } = openTestInbox(db).at(NOON + 20_002 * 60_000);
  const minutes = Array.from({ length: 20_003 }, (_, n) =>
    createRejectionCount({ newestMsAgo: (20_002 - n) * 60_000 }),
  );
  await count(minutes);
  expect(db.prepare('SELECT count(*) AS rows, min(minute) AS oldest FROM rejected_webhooks').get()).toEqual({
    rows: 20_001,
    oldest: '2026-05-04T12:02',
  });
});

test('T01 T02 the doctor distinguishes a wrong secret from a wrong prefix, and fails until a genuine webhook arrives', async () => {
  const { inbox, reader } = openTemporaryReader();
  const findings = async () => {
    const found = await runDoctorCheck('rejected_webhooks', reader, NOON + 60_000);
    return [found].flat();
  };
  expect(await findings()).toMatchObject([{ state: 'ok' }]);

  const { accept, at } = openTestInbox(inbox);
  await at(NOON).countRejected([
    createRejectionCount({ rejected: 3 }),
    createRejectionCount({ rejected: 2, newestMsAgo: 86_400_000 * 2 }),
  ]);
  await at(NOON).countRejected([createRejectionCount({ reason: 'no_signature', headerPrefix: 'icr' })]);
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

test('T20 the doctor warns of a delivery that arrives again and again', async () => {
  const { inbox, reader } = openTemporaryReader();
  const { accept } = openTestInbox(inbox);
  const captured = acceptedDelivery();
  const finding = () => runDoctorCheck('duplicates', reader, NOON + 3_000_000);
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
  expect(await runDoctorCheck('duplicates', reader, NOON + 3_600_000 * 2)).toMatchObject({ state: 'ok' });
  await accept([{ ...captured, receivedAt: NOON + 130_000 }], NOON + 130_000);
  expect((await readStatus(reader, NOON)).newestDeliveryAt).toBe(new Date(NOON + 130_000).toISOString());
  expect((await readStatus(reader, NOON)).newestDeliveryAt).toBe(new Date(NOON + 130_000).toISOString());
});

function openTemporaryReader() {
  const folder = temporaryFolder();
  const inbox = temporaryInbox(folder);
  const files = { mirrorFile: join(folder, 'mirror.db'), inboxFile: join(folder, 'inbox.db') };
  migrateFile(files.mirrorFile, 'mirror', new Date(NOON).toISOString());
  const reader = openReader(files);
  onTestFinished(() => reader.close());
  return { inbox, reader };
}
