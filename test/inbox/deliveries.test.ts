import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createAcceptDeliveries } from '../../src/engines/sqlite/inbox/deliveries.js';
import { installationJob } from '../../src/inbox/job.js';
import { createInbox } from '../../src/inbox/inbox.js';
import { acceptedDelivery, NOON, temporaryFolder, temporaryInbox } from '../support/inbox.js';

const LEASE = { leaseMs: 60_000, slots: 4 };

function textOf(name: string) {
  return { signedData: name, digest: createHash('sha256').update(name).digest('hex') };
}

test('a delivery is a row, its text is kept beside it and its job starts after it', () => {
  const db = temporaryInbox();
  const inbox = createInbox(db);
  const [stored] = inbox.acceptDeliveries([acceptedDelivery(textOf('one'))], NOON);
  expect(inbox.listDeliveries({})).toEqual([
    {
      id: stored?.id,
      received_at: '2026-05-04T12:00:00.000Z',
      event: 'warehouseTransaction',
      installation_id: 'installation-1',
      digest: textOf('one').digest,
      text_id: 1,
      outer_mismatch: null,
      verdict: 'accepted',
      reason: null,
      secret_index: 0,
      job_id: stored?.jobId,
      repeats: 0,
      last_received_at: null,
      unread_at: null,
      job_state: 'ready',
      job_outcome: null,
    },
  ]);
  expect(inbox.readSignedText(stored?.id ?? 0)).toBe('one');
  expect(inbox.findJob(stored?.jobId ?? 0)).toMatchObject({
    kind: 'installation',
    installation_id: 'installation-1',
    organization_id: 'organization-1',
    lane: 'data',
    trigger: 'delivery',
    run_at: '2026-05-04T12:00:00.000Z',
  });
});

test('a delivery that is set aside is stored without a job', () => {
  const inbox = createInbox(temporaryInbox());
  const aside = acceptedDelivery({ verdict: 'set_aside', reason: 'other_app' });
  expect(inbox.acceptDeliveries([aside], NOON)).toEqual([{ id: 1, jobId: null, repeated: false }]);
  expect(inbox.countJobs()).toMatchObject({ ready: 0 });
});

test('the text of repeats is kept once, across groups and restarts', () => {
  const folder = temporaryFolder();
  const db = temporaryInbox(folder);
  const twice = [acceptedDelivery(textOf('a')), acceptedDelivery(textOf('a'))];
  const accept = createAcceptDeliveries(db);
  accept([...twice, acceptedDelivery(textOf('b'))], NOON);
  accept(twice, NOON + 1);
  createAcceptDeliveries(db)([acceptedDelivery({ ...textOf('b'), receivedAt: NOON + 2 })], NOON + 2);
  expect(db.prepare('SELECT signed_data, last_received_at FROM signed_texts ORDER BY id').all()).toEqual([
    { signed_data: 'a', last_received_at: new Date(NOON).toISOString() },
    { signed_data: 'b', last_received_at: new Date(NOON + 2).toISOString() },
  ]);
  expect(db.prepare('SELECT text_id FROM deliveries ORDER BY id').pluck().all()).toEqual([1, 2, 2]);
});

test('a text that was rolled back, or removed since, is stored again', () => {
  const db = temporaryInbox();
  const accept = createAcceptDeliveries(db);
  const bad = acceptedDelivery({ ...textOf('b'), verdict: 'accepted', reason: 'a contradiction' });
  expect(() => accept([acceptedDelivery(textOf('a')), bad], NOON)).toThrow('CHECK');
  accept([acceptedDelivery(textOf('a'))], NOON);
  expect(db.prepare('SELECT signed_data FROM signed_texts').pluck().all()).toEqual(['a']);
  db.exec("DELETE FROM signed_texts; INSERT INTO signed_texts VALUES (1, 'another digest', '', 'another')");
  const later = NOON + 61_000;
  accept([acceptedDelivery({ ...textOf('a'), receivedAt: later })], later);
  expect(createInbox(db).readSignedText(2)).toBe('a');
});

test('T09 50 identical deliveries lead to one read, and at most one after it', () => {
  const inbox = createInbox(temporaryInbox());
  const one = acceptedDelivery();
  const deliveries = Array.from({ length: 50 }, () => one);
  inbox.acceptDeliveries(deliveries.slice(0, 20), NOON);
  const [running] = inbox.claimJobs({ ...LEASE, now: NOON });
  inbox.acceptDeliveries(deliveries.slice(20), NOON + 5);
  inbox.acceptDeliveries(deliveries.slice(20), NOON + 6);
  expect(inbox.countJobs()).toMatchObject({ claimed: 1, ready: 1 });
  expect(inbox.claimJobs({ ...LEASE, now: NOON + 10_000 })).toEqual([]);
  expect(running && inbox.finishJob(running, 'read', NOON + 10_000)).toBe(true);
  expect(inbox.claimJobs({ ...LEASE, now: NOON + 10_000 })).toHaveLength(1);
  expect(inbox.countJobs()).toMatchObject({ claimed: 1, ready: 0 });
});

test('T07 an old uninstalled replayed 1,000 times asks for one read at a time', () => {
  const inbox = createInbox(temporaryInbox());
  const replay = acceptedDelivery({ event: 'uninstalled', ...textOf('the same old text') });
  let starts = 0;
  let now = NOON;
  let running = inbox.claimJobs({ ...LEASE, now });
  for (let sent = 0; sent < 1000; sent += 4) {
    now += 12;
    const four = Array.from({ length: 4 }, () => ({ ...replay, receivedAt: now }));
    inbox.acceptDeliveries(four, now);
    expect(inbox.countJobs().ready).toBeLessThanOrEqual(1);
    const claimed = inbox.claimJobs({ ...LEASE, now });
    expect(claimed.length + running.length).toBeLessThanOrEqual(1);
    starts += claimed.length;
    running = [...running, ...claimed];
    if (sent % 40 === 0) running = running.filter(job => !inbox.finishJob(job, 'read', now));
  }
  expect(starts).toBeGreaterThanOrEqual(3);
  expect(starts).toBeLessThanOrEqual(4);
  const rows = inbox.listDeliveries({ limit: 2000 });
  expect(rows.reduce((posts, { repeats }) => posts + 1 + repeats, 0)).toBe(1000);
  expect(rows.length).toBeLessThan(10);
});

test('T71 10,000 deliveries for 20 installations in 10 seconds are read at once, then once a second, then once more', () => {
  const inbox = createInbox(temporaryInbox());
  const starts = new Map<string, number[]>();
  let running: ReturnType<typeof inbox.claimJobs> = [];
  const turn = (now: number): void => {
    running = running.filter(job => !inbox.finishJob(job, 'read', now));
    running = inbox.claimJobs({ leaseMs: 60_000, slots: 20, now });
    for (const { installationId } of running) {
      starts.set(installationId ?? '', [...(starts.get(installationId ?? '') ?? []), now]);
    }
  };
  for (let step = 0; step < 500; step += 1) {
    const now = NOON + step * 20;
    const group = Array.from({ length: 20 }, (_, index) =>
      acceptedDelivery({ receivedAt: now, installationId: `installation-${index}`, organizationId: null }),
    );
    inbox.acceptDeliveries(group, now);
    turn(now + 10);
  }
  const last = NOON + 499 * 20;
  for (let now = last; now < last + 3000; now += 100) turn(now);
  expect(starts.size).toBe(20);
  for (const times of starts.values()) {
    expect(times[0]).toBe(NOON + 10);
    expect(times.length).toBeGreaterThanOrEqual(10);
    expect(times.length).toBeLessThanOrEqual(12);
    expect(times.at(-1)).toBeGreaterThanOrEqual(last);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1000);
  }
  expect(inbox.countJobs()).toMatchObject({ ready: 0 });
});

test('the newest delivery of a job is the last that it answers, also where it took over another, and no later one', () => {
  const box = createInbox(temporaryInbox());
  const accept = (at: number, overrides = {}) =>
    box.acceptDeliveries([acceptedDelivery({ receivedAt: at, ...overrides })], at)[0]?.id;
  const claim = (now: number) =>
    box.claimJobs({ ...LEASE, now }).find(({ dedupeKey }) => dedupeKey.endsWith('-1'));
  accept(NOON);
  const second = accept(NOON);
  accept(NOON, { installationId: 'installation-2', organizationId: 'organization-2' });
  accept(NOON, { verdict: 'set_aside', reason: 'event_unknown' });
  const first = claim(NOON);
  if (first === undefined) throw new Error('nothing was claimed');
  expect(box.newestDelivery(first)).toBe(second);
  box.enqueue(installationJob('installation-1', null, 'schedule'), NOON);
  box.retryJob(first, NOON, { code: 'unavailable', message: 'answered 503' }, NOON);
  const heir = claim(NOON + 60_000);
  if (heir === undefined) throw new Error('nothing was claimed');
  expect(heir.id).not.toBe(first.id);
  accept(NOON + 60_000);
  expect(box.newestDelivery(heir)).toBe(second);
  box.finishJob(heir, 'read', NOON + 60_000);
  const third = claim(NOON + 120_000);
  if (third === undefined) throw new Error('nothing was claimed');
  expect(box.newestDelivery({ ...third, trigger: 'person' })).toBeGreaterThan(second ?? 0);
  for (const trigger of ['schedule', 'worker']) expect(box.newestDelivery({ ...third, trigger })).toBeNull();
});

test('a job for which only a person asked answers no delivery, however new one is', () => {
  const box = createInbox(temporaryInbox());
  box.acceptDeliveries([acceptedDelivery()], NOON);
  const [first] = box.claimJobs({ ...LEASE, now: NOON });
  if (first === undefined) throw new Error('nothing was claimed');
  box.finishJob(first, 'read', NOON);
  box.enqueue(installationJob('installation-1', null, 'person'), NOON);
  const [asked] = box.claimJobs({ ...LEASE, now: NOON + 60_000 });
  if (asked === undefined) throw new Error('nothing was claimed');
  expect(box.newestDelivery(asked)).toBeNull();
});
