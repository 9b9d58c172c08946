import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type ClaimedJob, createInstallationJob } from '../../src/inbox/job.js';
import type { InboxPort } from '../../src/inbox/port.js';
import { createTestInbox, getOnly, acceptedDelivery, NOON } from '../support/inbox.js';
import { ENGINES } from '../support/mirror/open.js';
import { engineIndependent } from '../support/long.js';

const LEASE = { leaseMs: 60_000, slots: 4 };

function createSignedText(name: string) {
  return { signedData: name, sha256: createHash('sha256').update(name).digest('hex') };
}

describe.each(ENGINES)('$name', ({ store }) => {
  test('an accepted delivery gets a row, its text is stored separately, and its job starts after it', async () => {
    const kept = await store();
    const inbox = createTestInbox(kept);
    const stored = getOnly(await inbox.accept([acceptedDelivery(createSignedText('one'))], NOON));
    expect(await kept.db.rows('SELECT * FROM deliveries')).toEqual([
      {
        id: stored.id,
        received_at: '2026-05-04T12:00:00.000Z',
        event: 'warehouseTransaction',
        installation_id: 'installation-1',
        signed_text_sha256: createSignedText('one').sha256,
        stored_text_id: 1,
        contradicted_fields: null,
        verdict: 'accepted',
        ignored_reason: null,
        secret_index: 0,
        job_id: stored.jobId,
        duplicates: 0,
        last_duplicate_at: null,
        unread_duplicate_at: null,
      },
    ]);
    expect(await inbox.at(NOON).listSignedTexts(0, 9)).toEqual([{ id: 1, signedData: 'one' }]);
    expect(await inbox.job(stored.jobId ?? 0)).toMatchObject({
      kind: 'installation',
      installation_id: 'installation-1',
      organization_id: 'organization-1',
      part: 'data',
      trigger: 'delivery',
      run_at: '2026-05-04T12:00:00.000Z',
    });
  });

  test('each delivery of a large batch has its own row, text and job, in order of arrival', async () => {
    const kept = await store();
    const inbox = createTestInbox(kept);
    const batch = Array.from({ length: 100 }, (_, index) =>
      acceptedDelivery({
        ...createSignedText(`text ${index}`),
        installationId: `installation-${index % 7}`,
        organizationId: `organization-${index % 7}`,
        ...(index % 10 === 9 && { verdict: 'ignored', reason: 'other_app' }),
      }),
    );
    const duplicate = acceptedDelivery({ ...createSignedText('text 3'), installationId: 'installation-3' });
    const stored = await inbox.accept([...batch, duplicate], NOON);
    const rows =
      await kept.db.rows(`SELECT d.id, signed_data AS text, d.installation_id, j.installation_id AS job, duplicates
      FROM deliveries AS d JOIN signed_texts AS t ON t.id = d.stored_text_id LEFT JOIN jobs AS j ON j.id = d.job_id ORDER BY d.id`);
    const expected = batch.map(({ signedData, installationId, verdict }, index) => ({
      id: stored[index]?.id,
      text: signedData,
      installation_id: installationId,
      job: verdict === 'accepted' ? installationId : null,
      duplicates: Number(index === 3),
    }));
    expect(rows).toEqual(expected);
    expect(stored[100]).toEqual({ ...stored[3], isDuplicate: true });
    expect(stored.filter(({ isDuplicate }) => isDuplicate)).toHaveLength(1);
  });

  test('an ignored delivery is stored without a job', async () => {
    const inbox = createTestInbox(await store());
    const ignored = acceptedDelivery({ verdict: 'ignored', reason: 'other_app' });
    expect(await inbox.accept([ignored], NOON)).toEqual([{ id: 1, jobId: null, isDuplicate: false }]);
    expect(await inbox.at(0).countJobs()).toMatchObject({ waiting: 0 });
  });

  test('the text of duplicates is stored once, across batches and restarts', async () => {
    const kept = await store();
    const twice = [acceptedDelivery(createSignedText('a')), acceptedDelivery(createSignedText('a'))];
    const { accept } = createTestInbox(kept);
    await accept([...twice, acceptedDelivery(createSignedText('b'))], NOON);
    await accept(twice, NOON + 1);
    await createTestInbox(kept).accept(
      [acceptedDelivery({ ...createSignedText('b'), receivedAt: NOON + 2 })],
      NOON + 2,
    );
    expect(await kept.db.rows('SELECT signed_data, last_received_at FROM signed_texts ORDER BY id')).toEqual([
      { signed_data: 'a', last_received_at: new Date(NOON).toISOString() },
      { signed_data: 'b', last_received_at: new Date(NOON + 2).toISOString() },
    ]);
    expect(await kept.db.column('SELECT stored_text_id FROM deliveries ORDER BY id')).toEqual([1, 2, 2]);
  });

  test('a text is stored again after a rollback or after its removal', async () => {
    const kept = await store();
    const { accept, at } = createTestInbox(kept);
    const invalid = acceptedDelivery({
      ...createSignedText('b'),
      verdict: 'accepted',
      reason: 'a contradiction',
    });
    await expect(accept([acceptedDelivery(createSignedText('a')), invalid], NOON)).rejects.toThrow(/check/i);
    await accept([acceptedDelivery(createSignedText('a'))], NOON);
    expect(await kept.db.column('SELECT signed_data FROM signed_texts')).toEqual(['a']);
    const before = getOnly(await at(NOON).listSignedTexts(0, 9));
    await kept.db.change("UPDATE signed_texts SET sha256 = 'another', signed_data = 'another'");
    const later = NOON + 61_000;
    await accept([acceptedDelivery({ ...createSignedText('a'), receivedAt: later })], later);
    expect(await at(later).listSignedTexts(before.id, 9)).toMatchObject([{ signedData: 'a' }]);
  });

  test('T09 50 identical deliveries lead to one read, and to at most one more after it', async () => {
    const inbox = createTestInbox(await store());
    const delivery = acceptedDelivery();
    const deliveries = Array.from({ length: 50 }, () => delivery);
    await inbox.accept(deliveries.slice(0, 20), NOON);
    const [running] = await inbox.claim({ ...LEASE, now: NOON });
    await inbox.accept(deliveries.slice(20), NOON + 5);
    await inbox.accept(deliveries.slice(20), NOON + 6);
    expect(await inbox.at(0).countJobs()).toMatchObject({ running: 1, waiting: 1 });
    expect(await inbox.claim({ ...LEASE, now: NOON + 10_000 })).toEqual([]);
    expect(running && (await inbox.finish(running, 'read', NOON + 10_000))).toBe(true);
    expect(await inbox.claim({ ...LEASE, now: NOON + 10_000 })).toHaveLength(1);
    expect(await inbox.at(0).countJobs()).toMatchObject({ running: 1, waiting: 0 });
  });

  engineIndependent.test(
    'T71 10,000 deliveries for 20 installations in 10 seconds are read at once, then once a second, and once after the last',
    async () => {
      const inbox = createTestInbox(await store());
      const starts = new Map<string, number[]>();
      let running: ClaimedJob[] = [];
      const turn = async (now: number): Promise<void> => {
        for (const job of running) await inbox.finish(job, 'read', now);
        running = await inbox.claim({ leaseMs: 60_000, slots: 20, now });
        for (const { installationId } of running) {
          starts.set(installationId ?? '', [...(starts.get(installationId ?? '') ?? []), now]);
        }
      };
      for (let step = 0; step < 500; step += 1) {
        const now = NOON + step * 20;
        const batch = Array.from({ length: 20 }, (_, index) =>
          acceptedDelivery({
            receivedAt: now,
            installationId: `installation-${index}`,
            organizationId: null,
          }),
        );
        await inbox.accept(batch, now);
        await turn(now + 10);
      }
      const last = NOON + 499 * 20;
      for (let now = last; now < last + 3000; now += 100) await turn(now);
      expect(starts.size).toBe(20);
      for (const times of starts.values()) {
        expect(times[0]).toBe(NOON + 10);
        expect(times.length).toBeGreaterThanOrEqual(10);
        expect(times.length).toBeLessThanOrEqual(12);
        expect(times.at(-1)).toBeGreaterThanOrEqual(last);
        const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
        expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1000);
      }
      expect(await inbox.at(0).countJobs()).toMatchObject({ waiting: 0 });
    },
  );

  test('the newest delivery of a job is the last one it answers, also after it took over another job', async () => {
    const box = createTestInbox(await store());
    const accept = async (at: number, overrides = {}) =>
      getOnly(await box.accept([acceptedDelivery({ receivedAt: at, ...overrides })], at)).id;
    const claim = async (now: number) =>
      getOnly((await box.claim({ ...LEASE, now })).filter(({ dedupeKey }) => dedupeKey.endsWith('-1')));
    const findNewest = (job: Parameters<InboxPort['findNewestDelivery']>[0]) =>
      box.at(NOON).findNewestDelivery(job);
    await accept(NOON);
    const second = await accept(NOON);
    await accept(NOON, { installationId: 'installation-2', organizationId: 'organization-2' });
    await accept(NOON, { verdict: 'ignored', reason: 'event_unknown' });
    const first = await claim(NOON);
    expect(await findNewest(first)).toBe(second);
    await box.enqueue(createInstallationJob('installation-1', null, 'schedule'), NOON);
    await box.retry(first, NOON, { code: 'unavailable', message: 'answered 503' }, NOON);
    const successor = await claim(NOON + 60_000);
    expect(successor.id).not.toBe(first.id);
    await accept(NOON + 60_000);
    expect(await findNewest(successor)).toBe(second);
    await box.finish(successor, 'read', NOON + 60_000);
    const third = await claim(NOON + 120_000);
    expect(await findNewest({ ...third, trigger: 'person' })).toBeGreaterThan(second);
    for (const trigger of ['schedule', 'worker']) expect(await findNewest({ ...third, trigger })).toBeNull();
  });

  test('a job that only a person requested answers no delivery', async () => {
    const box = createTestInbox(await store());
    await box.accept([acceptedDelivery()], NOON);
    await box.finish(getOnly(await box.claim({ ...LEASE, now: NOON })), 'read', NOON);
    await box.enqueue(createInstallationJob('installation-1', null, 'person'), NOON);
    const requested = getOnly(await box.claim({ ...LEASE, now: NOON + 60_000 }));
    expect(await box.at(NOON).findNewestDelivery(requested)).toBeNull();
  });
});
