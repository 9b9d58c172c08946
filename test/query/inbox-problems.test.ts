import { expect, test } from 'vitest';
import { readActivity, readStateFingerprint } from '../../src/query/inbox/activity.js';
import { addEndColumn, addJobs } from '../../src/query/inbox/outcomes.js';
import { getRejectionAdvice, readRejections } from '../../src/query/inbox/rejected-webhooks.js';
import { describeRejection, findTroubles } from '../../src/query/inbox/troubles.js';
import type { Row, Value } from '../../src/store/contract/tables.js';
import { NOON } from '../support/inbox.js';
import { MINUTE, openFilledMirror } from '../support/mirror/open.js';
import { retirement } from '../support/mirror/rows.js';

type Filled = Awaited<ReturnType<typeof openFilledMirror>>;

const instant = (at: number) => new Date(at).toISOString();
const minutesAgo = (minutes: number) => instant(NOON - minutes * MINUTE);
const openMirror = () => openFilledMirror({ organizations: 1, at: NOON - 60 * MINUTE });

async function addJob({ tables }: Filled, id: number, overrides: Readonly<Record<string, Value>> = {}) {
  const job = {
    id,
    kind: 'installation',
    installation_id: 'installation-1',
    dedupe_key: `key-${id}`,
    trigger: 'worker',
    state: 'waiting',
    run_at: minutesAgo(1),
    created_at: minutesAgo(2),
    ...overrides,
  };
  const names = Object.keys(job);
  await tables.change(
    `INSERT INTO inbox.jobs (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    ...Object.values(job),
  );
}

const readDelayed = async ({ reader }: Filled) => (await readActivity(reader, NOON)).delayed;
const readJobs = async ({ reader }: Filled) => (await readActivity(reader, NOON)).jobs;

test('waiting jobs are due from their run time on, and those that failed in an outage are counted apart', async () => {
  const filled = await openMirror();
  await addJob(filled, 1, { run_at: instant(NOON) });
  await addJob(filled, 2, { run_at: instant(NOON + 1) });
  await addJob(filled, 3, { run_at: minutesAgo(2), attempts: 1 });
  await addJob(filled, 4, { state: 'paused' });
  await addJob(filled, 5, { state: 'running', claimed_until: instant(NOON) });
  expect(await readJobs(filled)).toMatchObject({ due: 2, planned: 1, tried_first: 1, paused: 1, running: 1 });
  const troubles = async () =>
    findTroubles(await readActivity(filled.reader, NOON), NOON)
      .filter(({ check }) => check === 'jobs')
      .map(({ found, href, command, isFault }) => [found, href, command, isFault]);
  const list = 'carbon-mirror jobs list --state';
  expect(await troubles()).toEqual([
    ['1 job that failed is waiting', '/jobs?state=waiting', `${list} waiting`, false],
    ['1 job is paused', '/jobs?state=paused', `${list} paused`, false],
  ]);
  await addJob(filled, 6, { run_at: minutesAgo(2), attempts: 1 });
  await addJob(filled, 7, { state: 'paused' });
  await addJob(filled, 8, { state: 'failed', finished_at: minutesAgo(1) });
  await addJob(filled, 9, { state: 'failed', finished_at: minutesAgo(1) });
  expect(await troubles()).toEqual([
    ['2 jobs that failed are waiting', '/jobs?state=waiting', `${list} waiting`, false],
    ['2 jobs have failed', '/jobs?state=failed', `${list} failed`, true],
    ['2 jobs are paused', '/jobs?state=paused', `${list} paused`, false],
  ]);
});

test('jobs that failed more than once are reported with the newest error', async () => {
  const filled = await openMirror();
  await addJob(filled, 1, { attempts: 1, last_error: 'first failure' });
  expect(await readJobs(filled)).toMatchObject({ retrying: 0, retrying_error: null, retrying_job: null });
  await addJob(filled, 2, { attempts: 2, last_error: 'timed out' });
  const outage = { last_error: 'answered 503', error_or_pause_code: 'unavailable' };
  await addJob(filled, 3, { attempts: 5, ...outage });
  await addJob(filled, 4, { attempts: 5 });
  const activity = await readActivity(filled.reader, NOON);
  expect(activity.jobs).toMatchObject({ retrying: 2, retrying_error: 'answered 503', retrying_job: 3 });
  expect(findTroubles(activity, NOON).filter(({ check }) => check === 'jobs')).toEqual([
    {
      check: 'jobs',
      isFault: false,
      isSevere: false,
      actor: 'registry',
      action: null,
      found: '2 jobs failed more than once: answered 503',
      todo: 'It is retried automatically, at growing intervals.',
      href: '/jobs/3',
      command: 'carbon-mirror jobs show 3',
    },
  ]);
});

test('a failed job counts until a later job reads the same part in full', async () => {
  const filled = await openMirror();
  const failed = { state: 'failed', started_at: minutesAgo(9), finished_at: minutesAgo(8) };
  const done = { state: 'done', started_at: minutesAgo(7), finished_at: minutesAgo(6), outcome: 'read' };
  await addJob(filled, 1, { ...failed, kind: 'members' });
  const others = [
    { ...done, installation_id: 'installation-2' },
    { ...done, part: 'certificates' },
    { ...done, started_at: minutesAgo(9) },
    { ...done, kind: 'projects' },
    { ...done, outcome: 'merged' },
    { ...done, outcome: 'overtaken' },
    { ...done, outcome: 'read in part: retirements failed' },
    { ...failed, started_at: minutesAgo(7), installation_id: 'installation-2' },
  ];
  for (const [index, other] of others.entries()) await addJob(filled, 2 + index, other);
  expect(await readJobs(filled)).toMatchObject({ failed: 2 });
  await addJob(filled, 20, { ...done, kind: 'members' });
  expect(await readJobs(filled)).toMatchObject({ failed: 1 });
  await addJob(filled, 21, { ...failed, started_at: minutesAgo(5), kind: 'members' });
  expect(await readJobs(filled)).toMatchObject({ failed: 2 });
  await addJob(filled, 22, { ...done, started_at: minutesAgo(4), kind: 'installation' });
  expect(await readJobs(filled)).toMatchObject({ failed: 1 });
});

test('the queue is stalled if the oldest job is due for ten minutes and none that was due earlier has started', async () => {
  const filled = await openMirror();
  await addJob(filled, 1, { run_at: minutesAgo(9) });
  expect(await readDelayed(filled)).toEqual([]);
  await addJob(filled, 2, { run_at: minutesAgo(10), last_error: 'answered 503' });
  expect(await readDelayed(filled)).toEqual([
    {
      code: 'queue_stalled',
      since: minutesAgo(10),
      deliveryId: null,
      jobId: 2,
      error: 'answered 503',
    },
  ]);
  const activity = await readActivity(filled.reader, NOON);
  expect(findTroubles(activity, NOON).find(({ check }) => check === 'backlog')).toMatchObject({
    found: 'The jobs in the queue do not move: the oldest has waited for 10 min: answered 503',
    todo: 'It is retried automatically.',
    href: '/jobs/2',
    command: 'carbon-mirror jobs show 2',
  });
  const done = { state: 'done', run_at: minutesAgo(20), started_at: minutesAgo(9) };
  await addJob(filled, 3, { ...done, run_at: minutesAgo(19), finished_at: minutesAgo(8) });
  await addJob(filled, 4, { ...done, started_at: minutesAgo(10), finished_at: minutesAgo(8) });
  expect(await readDelayed(filled)).toHaveLength(1);
  await addJob(filled, 5, { ...done, finished_at: minutesAgo(8) });
  expect(await readDelayed(filled)).toEqual([]);
});

test('scheduled work is late after one interval, or after two if it fails', async () => {
  const filled = await openMirror();
  await filled.tables.change('UPDATE origin SET schedule_seconds = 300');
  const scheduled = { trigger: 'schedule' };
  await addJob(filled, 1, { ...scheduled, run_at: minutesAgo(4), created_at: minutesAgo(10) });
  await addJob(filled, 2, { run_at: minutesAgo(5), created_at: minutesAgo(10), attempts: 1 });
  await addJob(filled, 3, { ...scheduled, run_at: minutesAgo(0), created_at: minutesAgo(9), attempts: 1 });
  expect(await readDelayed(filled)).toEqual([]);
  await addJob(filled, 4, { ...scheduled, run_at: minutesAgo(1), created_at: minutesAgo(10), attempts: 1 });
  const code = 'schedule_overdue';
  expect(await readDelayed(filled)).toMatchObject([{ code, jobId: 4, since: minutesAgo(1) }]);
  await addJob(filled, 5, { ...scheduled, run_at: minutesAgo(5) });
  expect(await readDelayed(filled)).toMatchObject([{ code, jobId: 5, since: minutesAgo(5) }]);
});

test('a refusal of the app is reported once, with its error, and not again as paused jobs', async () => {
  const filled = await openMirror();
  await addJob(filled, 1, { state: 'paused', error_or_pause_code: 'no_permission', last_error: 'not it' });
  const paused = await readActivity(filled.reader, NOON);
  expect(paused.causes).toEqual([]);
  expect(findTroubles(paused, NOON).find(({ check }) => check === 'jobs')).toEqual({
    check: 'jobs',
    isFault: false,
    isSevere: false,
    actor: null,
    action: 'read_now',
    found: '1 job is paused',
    todo: 'Each waits for the cause named in its error, and is retried automatically.',
    href: '/jobs?state=paused',
    command: 'carbon-mirror jobs list --state paused',
  });
  const refused = { state: 'paused', error_or_pause_code: 'unauthorized' };
  await addJob(filled, 2, { ...refused, last_error: 'the key was refused' });
  await addJob(filled, 3, { ...refused, last_error: 'the app was refused' });
  const activity = await readActivity(filled.reader, NOON);
  expect(activity.causes).toEqual([{ code: 'registry_refuses', error: 'the app was refused' }]);
  const troubles = findTroubles(activity, NOON);
  expect(troubles.map(({ check }) => check)).toEqual(['registry', 'worker', 'receiver']);
  expect(troubles[0]).toMatchObject({
    isFault: true,
    found: 'the app was refused',
    href: '/jobs?state=paused',
    command: null,
    action: 'read_now',
  });
  expect(troubles[1]).toMatchObject({
    isFault: true,
    isSevere: true,
    found: 'No worker has ever run',
    todo: 'Start "carbon-mirror work" (or "up").',
    href: '/jobs',
  });
  expect(troubles[2]).toMatchObject({
    isFault: true,
    isSevere: false,
    todo: 'Start "carbon-mirror receive" (or "up").',
    href: '/deliveries',
  });
});

test('the fingerprint changes with jobs that end or start', async () => {
  const filled = await openMirror();
  const fingerprints = [await readStateFingerprint(filled.reader, NOON)];
  for (const id of [9, 10]) {
    await addJob(filled, id);
    fingerprints.push(await readStateFingerprint(filled.reader, NOON));
  }
  const states = [
    { state: 'done', finished_at: minutesAgo(3) },
    { state: 'failed', finished_at: minutesAgo(2) },
    { state: 'running', started_at: minutesAgo(1), claimed_until: instant(NOON) },
  ];
  for (const [index, state] of states.entries()) {
    await addJob(filled, index + 1, state);
    fingerprints.push(await readStateFingerprint(filled.reader, NOON));
  }
  expect(new Set(fingerprints).size).toBe(6);
});

test('a partial read states when its unread lists are retried', async () => {
  const filled = await openMirror();
  const row: Row = {
    state: 'done',
    kind: 'installation',
    outcome: 'read in part: retirements failed',
    installation_id: 'installation-1',
    organization_id: null,
    claim: null,
    started_at: minutesAgo(9),
    finished_at: minutesAgo(8),
  };
  const readEnd = async (overrides: Row = {}) =>
    (await addEndColumn(filled.reader, [{ ...row, ...overrides }]))[0]?.['end'];
  expect(await readEnd()).toBe('read in part: retirements failed');
  const retry = { dedupe_key: 'retry:installation-1' };
  await addJob(filled, 1, { ...retry, state: 'done', run_at: minutesAgo(9), finished_at: minutesAgo(8) });
  expect(await readEnd()).toBe('read in part: retirements failed');
  await addJob(filled, 2, { ...retry, run_at: minutesAgo(5) });
  expect(await readEnd()).toBe('read in part: retirements failed, tried again 11:55');
  expect(await readEnd({ kind: 'certificates' })).toBe('read in part: retirements failed');
  expect(await readEnd({ installation_id: 'installation-2' })).toBe('read in part: retirements failed');
  await filled.tables.change('UPDATE inbox.jobs SET started_at = ? WHERE id = 2', minutesAgo(4));
  expect(await readEnd()).toBe('read in part: retirements failed, tried again 11:56');
});

test('a read that is not complete is never described as "nothing new"', async () => {
  const filled = await openMirror();
  const { reader, db, read, clock } = filled;
  const started = clock.at;
  await read('retirements', [retirement('r-1-0')], { claim: 7 });
  await read('inventory_requests', [], { claim: 7 });
  const row: Row = {
    state: 'done',
    outcome: 'refused',
    organization_id: 'organization-1',
    claim: 7,
    started_at: instant(started),
    finished_at: instant(started + 900),
  };
  const readEnd = async (overrides: Row = {}) =>
    (await addEndColumn(reader, [{ ...row, ...overrides }]))[0]?.['end'];
  expect(await readEnd()).toBe('read in 0.9 s: nothing new');
  expect(await readEnd({ organization_id: 'organization-2' })).toBe('refused in 0.9 s');
  expect(await readEnd({ organization_id: null })).toBe('refused in 0.9 s');
  expect(await readEnd({ claim: 8 })).toBe('refused in 0.9 s');
  await db.change("UPDATE syncs SET state = 'failed' WHERE resource = 'retirements'");
  expect(await readEnd()).toBe('refused in 0.9 s');
  await db.change("UPDATE syncs SET rows_added = 2 WHERE resource = 'retirements'");
  await db.change(
    "UPDATE syncs SET rows_changed = 3, rows_removed = 1 WHERE resource = 'inventory_requests'",
  );
  const changes = '2 added in retirements, 3 changed and 1 removed in inventory requests';
  expect(await readEnd()).toBe(`refused in 0.9 s: ${changes}`);
  expect(await readEnd({ outcome: 'read in part: retirements failed' })).toBe(
    'read in part: retirements failed; 2 added in retirements; 3 changed and 1 removed in inventory requests',
  );
  await db.change("UPDATE syncs SET state = 'complete'");
  expect(await readEnd()).toBe(`read in 0.9 s: ${changes}`);
});

test('a delivery has the job that reads after it, or the job that this one was merged into', async () => {
  const filled = await openMirror();
  const target = { state: 'failed', last_error: 'answered 403', claim: 9, organization_id: 'organization-1' };
  const times = { started_at: minutesAgo(5), finished_at: minutesAgo(4) };
  await addJob(filled, 5, { ...target, ...times });
  await addJob(filled, 6, { state: 'done', outcome: 'merged', merged_into: 5, finished_at: minutesAgo(8) });
  const outcomes = { outcome: 'answered 403', claim: 9, organization_id: 'organization-1', ...times };
  const deliveries = await addJobs(filled.reader, [{ job_id: 6 }, { job_id: 5 }, { job_id: 7 }]);
  expect(deliveries).toEqual([
    { job_id: 6, job_state: 'failed', merged_into: 5, ...outcomes },
    { job_id: 5, job_state: 'failed', merged_into: null, ...outcomes },
    {
      job_id: 7,
      job_state: null,
      outcome: null,
      merged_into: null,
      organization_id: null,
      claim: null,
      started_at: null,
      finished_at: null,
    },
  ]);
  expect((await addEndColumn(filled.reader, deliveries)).map(({ end }) => end)).toEqual([
    'answered 403',
    'answered 403',
    null,
  ]);
});

test('the result of a job is its outcome, its error, or that the installation is unknown', async () => {
  const { reader } = await openMirror();
  const ended = { state: 'done', started_at: minutesAgo(2), finished_at: minutesAgo(1), claim: null };
  const rows: Row[] = [
    { ...ended, outcome: 'unchanged' },
    { ...ended, outcome: null },
    { ...ended, outcome: 'merged', started_at: null },
    { state: 'failed', outcome: null, last_error: 'answered 403' },
    { ...ended, outcome: 'uninstalled', installation_id: 'unknown' },
    { ...ended, outcome: 'uninstalled', installation_id: 'installation-1' },
  ];
  expect((await addEndColumn(reader, rows)).map(({ end }) => end)).toEqual([
    'unchanged in 60.0 s',
    'done in 60.0 s',
    'merged',
    'answered 403',
    'the registry knows no such installation',
    'uninstalled in 60.0 s',
  ]);
});

test.each<[string, Row]>([
  ['waits for its scheduled time', { kind: 'installation', trigger: 'schedule' }],
  ['waits until a reservation expires', { kind: 'reservations', trigger: 'worker' }],
  ['waits to retry lists that could not be read', { kind: 'retry', trigger: 'worker' }],
  ['waits for its turn', { kind: 'installation', trigger: 'delivery' }],
  ['waits for its turn', { kind: 'certificates', trigger: 'worker' }],
  [
    'waits to retry after a failure: answered 403',
    { trigger: 'schedule', last_error: 'answered 403', error_or_pause_code: 'forbidden' },
  ],
  [
    'waits for an outage to end: answered 503',
    { trigger: 'schedule', last_error: 'answered 503', error_or_pause_code: 'unavailable' },
  ],
  [
    'paused after a failure: answered 401',
    { state: 'paused', last_error: 'answered 401', error_or_pause_code: 'unauthorized' },
  ],
])('a job that waits states why: %s', async (reason, job) => {
  const { reader } = await openMirror();
  expect(await addEndColumn(reader, [{ state: 'waiting', outcome: null, ...job }])).toMatchObject([
    { end: reason },
  ]);
});

test('at most five causes of rejections are described, with the header or the status of each', async () => {
  const { inbox, reader, clock } = await openMirror();
  clock.at = NOON;
  const rejections = [
    { reason: 'no_signature', status: 401, headerPrefix: 'other' },
    { reason: 'signature_not_valid', status: 401, headerPrefix: 'registry' },
    { reason: 'too_large', status: 413, headerPrefix: 'registry' },
    { reason: 'no_signature', status: 401, headerPrefix: '' },
    { reason: 'wrong_content_type', status: 415, headerPrefix: 'registry' },
    { reason: 'not_stored', status: 503, headerPrefix: 'registry' },
  ] as const;
  await inbox.countRejected(
    rejections.map((each, index) => ({ ...each, rejected: 9 - index, newestMsAgo: 0 })),
  );
  const causes = await readRejections(reader, NOON + MINUTE);
  expect(causes.map(({ isFault }) => isFault)).toEqual([true, true, false, false, false]);
  expect(causes.map(cause => describeRejection(cause, NOON + MINUTE).found)).toEqual([
    '9 webhooks rejected since 12:00 UTC: signed in x-other-signature-256',
    '8 webhooks rejected since 12:00 UTC: signature not valid (401)',
    '7 webhooks rejected since 12:00 UTC: too large (413)',
    '6 webhooks rejected since 12:00 UTC: no signature (401)',
    '5 webhooks rejected since 12:00 UTC: wrong content type (415)',
  ]);
  expect(causes[0] && describeRejection(causes[0], NOON + MINUTE).todo).toBe(
    'Check REGISTRY_HEADER_PREFIX: the sender uses "other". See "carbon-mirror deliveries rejected".',
  );
  const [nextDay] = await readRejections(reader, NOON + 13 * 60 * MINUTE);
  expect(nextDay && describeRejection(nextDay, NOON + 13 * 60 * MINUTE).found).toContain(
    'since 2026-05-04 12:00 UTC',
  );
  expect(await readRejections(reader, NOON + 25 * 60 * MINUTE)).toEqual([]);
  expect(getRejectionAdvice({ reason: 'body_not_json', header_prefix: 'registry' })).toBe(
    'Check that no proxy changes the body. If none does, somebody else sent these.',
  );
});
