import { expect, test } from 'vitest';
import { createInstallationJob } from '../../src/inbox/job.js';
import { readActivity, readProcesses, readStateFingerprint } from '../../src/query/inbox/activity.js';
import {
  findMostDuplicated,
  countStoredRecords,
  decodeSignedText,
  readSignedText,
  readSignedTexts,
  readSyncsOfJob,
} from '../../src/query/inbox/deliveries.js';
import { addEndColumn, addJobs } from '../../src/query/inbox/outcomes.js';
import { getRejectionAdvice, readRejections, sumRejected } from '../../src/query/inbox/rejected-webhooks.js';
import { describeNotes } from '../../src/query/answer/describe-notes.js';
import { DELIVERIES, JOBS } from '../../src/query/lists/list-definitions.js';
import { reportFailingLists, findTroubles } from '../../src/query/inbox/troubles.js';
import type { Row } from '../../src/store/contract/tables.js';
import type { ArrivedDelivery } from '../support/inbox.js';
import { acceptedDelivery } from '../support/inbox.js';
import { askList } from '../support/ask-list.js';
import { openFilledMirror } from '../support/mirror/open.js';
import { credit } from '../support/mirror/rows.js';

type Filled = Awaited<ReturnType<typeof openFilledMirror>>;

const MINUTE = 60_000;
const instant = (at: number) => new Date(at).toISOString();

async function deliver({ inbox, clock }: Filled, overrides: Partial<ArrivedDelivery> = {}) {
  const { receivedAt: _, ...delivery } = acceptedDelivery(overrides);
  const [result] = await inbox.store([{ ...delivery, receivedMsAgo: 0 }]);
  if (result === undefined || 'failure' in result) throw new Error('expected it to be stored');
  clock.at += 1_000;
  return result;
}

const rowsIn = async ({ tables }: Filled, table: string) =>
  await tables.rows<Row>(`SELECT * FROM ${table} ORDER BY id`);

test('a worker and a receiver that never ran are reported as unknown', async () => {
  const { reader, clock } = await openFilledMirror({ organizations: 1 });
  const activity = await readActivity(reader, clock.at);
  expect(activity).toMatchObject({
    worker: { state: 'never_seen', seenAt: null },
    receiver: { state: 'never_seen', seenAt: null },
    oldestUnreadAt: null,
    delayed: [],
    rejectedWebhooks: [],
    newestDeliveryAt: null,
    ignored: 0,
    causes: [],
  });
  expect(findTroubles(activity, clock.at).map(({ check }) => check)).toEqual(['worker', 'receiver']);
});

test('a process counts as alive for one minute after its heartbeat', async () => {
  const { reader, inbox, clock } = await openFilledMirror({ organizations: 1 });
  const self = { role: 'work', host: 'here', pid: 7, startedAt: clock.at } as const;
  await inbox.heartbeat(self);
  const stateAt = async (at: number) => (await readActivity(reader, at)).worker.state;
  expect(await stateAt(clock.at + MINUTE)).toBe('alive');
  expect(await stateAt(clock.at + MINUTE + 1)).toBe('gone');
  const troubles = findTroubles(await readActivity(reader, clock.at), clock.at);
  expect(troubles.map(({ check }) => check)).toEqual(['receiver']);
  expect(await readProcesses(reader, 'work')).toMatchObject([{ host: 'here', pid: 7 }]);
  expect(await readProcesses(reader, 'receive')).toEqual([]);
});

test('a delivery that waits for more than a minute is reported as a problem with a link to it', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const { clock, reader } = filled;
  const came = instant(clock.at);
  const { id } = await deliver(filled);
  const early = await readActivity(reader, Date.parse(came) + MINUTE);
  expect([early.oldestUnreadAt, early.newestDeliveryAt, early.delayed]).toEqual([came, came, []]);
  const late = await readActivity(reader, Date.parse(came) + 2 * MINUTE);
  expect(late.delayed).toMatchObject([{ code: 'delivery_unread', since: came, deliveryId: id, error: null }]);
  const [trouble] = findTroubles(late, Date.parse(came) + 2 * MINUTE).filter(
    ({ check }) => check === 'backlog',
  );
  expect(trouble).toMatchObject({
    found: 'A delivery is unread, and has waited for 2 min',
    isFault: true,
    href: `/deliveries/${id}`,
    command: `carbon-mirror deliveries show ${id}`,
    todo: 'It has not failed: it is waiting for its turn.',
  });
});

test('an unread delivery waits since its arrival, even if the schedule had enqueued its job earlier', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const { clock, reader, inbox } = filled;
  await inbox.enqueue([createInstallationJob('installation-1', 'organization-1', 'schedule')]);
  clock.at += 5 * MINUTE;
  const came = instant(clock.at);
  const { id } = await deliver(filled);
  const { delayed } = await readActivity(reader, Date.parse(came) + 2 * MINUTE);
  expect(delayed).toMatchObject([{ since: came, deliveryId: id }]);
});

test('an unread delivery that is only recorded in the mirror waits since its recorded arrival', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const { clock, reader } = filled;
  const came = instant(clock.at);
  await deliver(filled);
  await filled.writeFreshnessFacts(clock.at + 20_000);
  for (const table of ['deliveries', 'jobs']) await filled.tables.change(`DELETE FROM inbox.${table}`);
  const { delayed, oldestUnreadAt } = await readActivity(reader, Date.parse(came) + MINUTE + 1);
  expect(oldestUnreadAt).toBe(came);
  expect(delayed).toEqual([
    { code: 'delivery_unread', since: came, deliveryId: null, jobId: null, error: null },
  ]);
  const now = Date.parse(came) + 2 * MINUTE;
  const [trouble] = findTroubles(await readActivity(reader, now), now).filter(
    ({ check }) => check === 'backlog',
  );
  expect(trouble).toMatchObject({ href: '/jobs', command: 'carbon-mirror jobs list' });
});

test('the fingerprint changes with a delivery but not with a heartbeat', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const { reader, inbox, clock } = filled;
  const self = { role: 'receive', host: 'here', pid: 7, startedAt: clock.at } as const;
  await inbox.heartbeat(self);
  const before = await readStateFingerprint(reader, clock.at);
  await inbox.heartbeat(self);
  expect(await readStateFingerprint(reader, clock.at)).toBe(before);
  await deliver(filled);
  expect(await readStateFingerprint(reader, clock.at)).not.toBe(before);
});

test('rejected webhooks are summed over minutes, most frequent first, and are a fault until a genuine one arrives', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const { inbox, clock, reader } = filled;
  const signed = {
    reason: 'signature_not_valid',
    status: 401,
    headerPrefix: 'registry',
    newestMsAgo: 0,
  } as const;
  const bare = { reason: 'no_signature', status: 401, headerPrefix: '', newestMsAgo: 0 } as const;
  await inbox.countRejected([
    { ...signed, rejected: 2 },
    { ...bare, rejected: 1 },
  ]);
  clock.at += 2 * MINUTE;
  await inbox.countRejected([{ ...signed, rejected: 3 }]);
  const sums = await sumRejected(reader, instant(clock.at - 10 * MINUTE));
  expect(sums.map(each => [each.reason, each.rejected])).toEqual([
    ['signature_not_valid', 5],
    ['no_signature', 1],
  ]);
  expect((await sumRejected(reader, instant(clock.at))).map(each => each.rejected)).toEqual([3]);
  const causes = await readRejections(reader, clock.at);
  expect(causes.map(({ isFault }) => isFault)).toEqual([true, false]);
  const activity = await readActivity(reader, clock.at);
  expect(activity.causes).toMatchObject([
    { code: 'webhooks_rejected', reason: 'signature_not_valid', status: 401, rejected: 5 },
  ]);
  expect(findTroubles(activity, clock.at)[0]).toMatchObject({
    check: 'rejected_webhooks',
    isSevere: false,
    href: '/rejected-webhooks',
    action: null,
    found: expect.stringMatching(/^5 webhooks rejected since .* UTC: signature not valid \(401\)$/),
  });
  clock.at += MINUTE;
  await deliver(filled);
  expect((await readRejections(reader, clock.at)).map(({ isFault }) => isFault)).toEqual([false, false]);
});

test('deliveries carry the caveat that webhooks were rejected since the newest of them', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const { inbox, clock } = filled;
  const askDeliveries = async (filters: Readonly<Record<string, string>> = {}) =>
    await askList(filled, DELIVERIES, { filters });
  const rejected = {
    reason: 'signature_not_valid',
    status: 401,
    headerPrefix: 'registry',
    newestMsAgo: 0,
  } as const;
  await inbox.countRejected([{ ...rejected, rejected: 2 }]);
  const beforeTheFirst = await askDeliveries();
  expect(beforeTheFirst.caveats).toEqual([
    { code: 'newer_rejected', newestDeliveryAt: null, webhooks: 2, reasons: ['signature_not_valid'] },
  ]);
  expect(describeNotes(beforeTheFirst)).toEqual([
    '2 webhooks were rejected and none was accepted: signature not valid. See "carbon-mirror deliveries rejected".',
  ]);
  clock.at += MINUTE;
  const newestDeliveryAt = instant(clock.at);
  await deliver(filled);
  expect((await askDeliveries()).caveats).toEqual([]);
  clock.at += MINUTE;
  await inbox.countRejected([
    { ...rejected, rejected: 1 },
    { ...rejected, reason: 'not_stored', status: 503, rejected: 4 },
  ]);
  expect((await askDeliveries()).caveats).toEqual([
    {
      code: 'newer_rejected',
      newestDeliveryAt,
      webhooks: 5,
      reasons: ['not_stored', 'signature_not_valid'],
    },
  ]);
  expect(describeNotes(await askDeliveries())).toEqual([
    '5 webhooks were rejected since the minute of the newest delivery: not stored, signature not valid. See "carbon-mirror deliveries rejected".',
  ]);
  expect((await askDeliveries({ until: instant(clock.at).slice(0, 10) })).caveats).toEqual([]);
  expect((await askList(filled, JOBS)).caveats).toEqual([]);
});

test('each rejection reason has its own advice', () => {
  const advice = (reason: string, prefix: string) => getRejectionAdvice({ reason, header_prefix: prefix });
  expect(advice('signature_not_valid', '')).toBe(
    'Check that WEBHOOK_SECRETS matches the secret at the registry.',
  );
  expect(advice('no_signature', 'icr')).toContain('Check REGISTRY_HEADER_PREFIX');
  expect(advice('no_signature', '')).toContain('somebody else sent these');
  expect(advice('wrong_content_type', 'registry')).toContain('content type');
  expect(advice('wrong_content_type', '')).toContain('somebody else sent these');
  expect(advice('no_signed_text', 'registry')).toContain('Check that no proxy changes the body');
  expect(advice('not_stored', '')).toContain("receiver's log");
});

test('failed jobs are a fault, and failed lists link to their organizations', async () => {
  const { reader, clock, inbox } = await openFilledMirror({ organizations: 1 });
  await inbox.enqueue([
    { kind: 'installation', dedupeKey: 'a', trigger: 'person', installationId: 'installation-1' },
  ]);
  const { jobs } = await inbox.claim({ parts: [{ part: 'data', slots: 1 }], leaseMs: MINUTE });
  const error = { code: 'refused', message: 'answered 403' };
  await inbox.settle(jobs.map(held => ({ claim: held, end: { act: 'fail', error } })));
  const activity = await readActivity(reader, clock.at);
  expect(activity.jobs).toMatchObject({ failed: 1, due: 0, running: 0 });
  expect(findTroubles(activity, clock.at).find(({ check }) => check === 'jobs')).toMatchObject({
    isFault: true,
    isSevere: true,
    action: 'retry',
    found: '1 job has failed',
    href: '/jobs?state=failed',
  });
  expect(reportFailingLists(0)).toEqual([]);
  expect(reportFailingLists(2)).toMatchObject([
    {
      found: 'The last read of 2 lists failed or looked implausible',
      href: '/organizations',
      command: 'carbon-mirror status',
    },
  ]);
});

test('a delivery is shown with the job that answers it and a description of its result', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const { reader, inbox, clock, read } = filled;
  const { jobId } = await deliver(filled);
  // The worker that filled the mirror has claim 1.
  await inbox.raiseClaims(100);
  const { jobs } = await inbox.claim({ parts: [{ part: 'data', slots: 1 }], leaseMs: MINUTE });
  const [job] = jobs;
  if (job === undefined) throw new Error('expected a job');
  await inbox.assignOrganization(job, 'organization-1');
  await read('warehouse', [credit('c-1-0'), credit('c-9')], { claim: job.claim });
  clock.at += 1_500;
  await inbox.settle([{ claim: job, end: { act: 'done', outcome: 'read' } }]);
  const [delivery] = await addEndColumn(
    reader,
    await addJobs(reader, await rowsIn(filled, 'inbox.deliveries')),
  );
  expect(delivery).toMatchObject({
    job_id: jobId,
    job_state: 'done',
    organization_id: 'organization-1',
    end: 'read in 1.5 s: 1 added and 1 changed in warehouse',
  });
  expect(await addJobs(reader, [{ job_id: null }])).toMatchObject([{ job_id: null, job_state: null }]);
  await filled.db.change('UPDATE syncs SET job_id = ? WHERE claim = ?', job.id, job.claim);
  expect(await readSyncsOfJob(reader, 'organization-1', job.id)).toMatchObject([
    { resource: 'warehouse', rows_added: 1 },
  ]);
  expect(await readSyncsOfJob(reader, 'organization-1', 999)).toEqual([]);
});

test.each([
  ['e30=', '{}'],
  ['/w==', '/w=='],
  ['', ''],
  ['w6Q=', 'ä'],
])('a signed text is decoded if its bytes are text: %j', (signedData, text) => {
  expect(decodeSignedText(signedData)).toBe(text);
});

test('the syncs of a job are added up by list, and are followed by the next sync of certificates', async () => {
  const { reader, tables } = await openFilledMirror({ organizations: 1 });
  await tables.change('DELETE FROM syncs');
  const columns =
    'organization_id, resource, trigger, claim, started_at, state, job_id, rows_added, rows_changed, rows_removed';
  const add = async (resource: string, jobId: number | null, ...rows: readonly number[]) =>
    await tables.change(
      `INSERT INTO syncs (${columns}) VALUES ('organization-1', ?, 'delivery', 1, '2026-05-04T12:00:00.000Z', 'complete', ?, ?, ?, ?)`,
      resource,
      jobId,
      ...rows,
    );
  await add('certificates', 7, 9, 9, 9);
  await add('warehouse', 8, 1, 2, 3);
  await add('retirements', 8, 0, 0, 1);
  await add('warehouse', 8, 10, 20, 30);
  await add('warehouse', 9, 5, 5, 5);
  await add('certificates', null, 1, 0, 0);
  await add('certificates', null, 2, 0, 0);
  const syncs = await readSyncsOfJob(reader, 'organization-1', 8);
  expect(syncs.map(each => [each.resource, each.rows_added, each.rows_changed, each.rows_removed])).toEqual([
    ['warehouse', 11, 22, 33],
    ['retirements', 0, 0, 1],
    ['certificates', 1, 0, 0],
  ]);
  expect(await readSyncsOfJob(reader, 'organization-2', 8)).toEqual([]);
});

test('a signed text is returned as it was sent, with a count of its duplicates', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const { reader, clock, tables } = filled;
  const since = instant(clock.at);
  await deliver(filled, { signedData: 'e30=', sha256: 'a'.repeat(64) });
  clock.at += 5 * MINUTE;
  const { id } = await deliver(filled, { signedData: 'e30=', sha256: 'a'.repeat(64) });
  await deliver(filled, { signedData: 'e31=', sha256: 'b'.repeat(64) });
  const [row = {}] = await rowsIn(filled, 'inbox.deliveries');
  expect(await readSignedText(reader, row)).toBe('e30=');
  const texts: string[] = [];
  for await (const text of readSignedTexts(reader)) texts.push(text.signed_data);
  expect(texts).toEqual(['e30=', 'e31=']);
  expect(await findMostDuplicated(reader, since)).toEqual({ newest_id: id, times: 2 });
  expect(await findMostDuplicated(reader, instant(clock.at))).toBe(null);
  const kept = await countStoredRecords(reader);
  expect(kept.deliveries).toMatchObject({
    count: Number(await tables.value('SELECT count(*) FROM inbox.deliveries')),
  });
  const more = await countStoredRecords(reader, kept);
  expect([more.deliveries.count, more.deliveries.id, more.deliveries.at]).toEqual([
    0,
    kept.deliveries.id,
    null,
  ]);
});
