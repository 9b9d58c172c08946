import { expect, test } from 'vitest';
import { createInboxPort } from '../../../src/store/postgres/inbox/inbox-port.js';
import type { Postgres } from '../../../src/store/postgres/open-postgres.js';
import { createInstallationJob, type NewJob } from '../../../src/inbox/job.js';
import { createTestInbox, NOON } from '../../support/inbox.js';
import { openInboxOnPostgres, openForTest, createDatabase } from '../../support/postgres.js';
import { mutateFunction } from '../../support/mutate-sql.js';
import { until } from '../../support/wait.js';

type Breaking = (owner: Postgres) => Promise<void>;

const AS_IT_IS: Breaking = async () => undefined;
const TICK: NewJob = { kind: 'tick', dedupeKey: 'tick', trigger: 'schedule' };
const LOCKED =
  "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/** Asks once for a job while somebody else has done so and has not committed yet. */
async function askBeside(breakIt: Breaking): Promise<number | null> {
  const database = await createDatabase();
  const owner = openForTest(database);
  await breakIt(owner);
  let asked: Promise<number | null> = Promise.resolve(null);
  await owner.transact(async query => {
    await createInboxPort({ ...owner, query }, () => NOON).enqueueOnce(TICK);
    asked = createInboxPort(openForTest(database), () => NOON).enqueueOnce(TICK);
    await until(async () => (await owner.query(LOCKED)).length === 1, 'the second to wait for the first');
  });
  return await asked;
}

test('enqueueOnce creates no job if an uncommitted transaction has already enqueued it', async () => {
  expect(await askBeside(AS_IT_IS)).toBeNull();
});

test('control: without waiting for the other transaction, enqueueOnce creates a second job', async () => {
  const hasty: Breaking = owner =>
    mutateFunction(owner, 'enqueue', 'PERFORM pg_advisory_xact_lock(', 'PERFORM (');
  expect(await askBeside(hasty)).toBe(1);
});

/** Returns which comes first: an installation that was just read, or one that was read an hour ago and waits for less time. */
async function findFirst(): Promise<string | null | undefined> {
  const box = createTestInbox(openInboxOnPostgres(openForTest(await createDatabase())));
  const claim = (now: number) => box.claim({ now, leaseMs: 60_000, slots: 1 });
  for (const [installation, at] of [
    ['seldom', NOON - 3_600_000],
    ['often', NOON],
  ] as const) {
    await box.enqueue(createInstallationJob(installation, null, 'delivery'), at);
    const [read] = await claim(at);
    if (read !== undefined) await box.finish(read, 'read', at + 1);
  }
  await box.enqueue(createInstallationJob('often', null, 'delivery'), NOON + 2);
  await box.enqueue(createInstallationJob('seldom', null, 'delivery'), NOON + 60_000);
  return (await claim(NOON + 120_000))[0]?.installationId;
}

test('the installation that was read longest ago is claimed first, however long others wait', async () => {
  expect(await findFirst()).toBe('seldom');
});

/** Claims beside somebody who holds a job; who waits for that gives up soon. */
async function claimBesideHeld(breakIt: Breaking): Promise<unknown> {
  const database = await createDatabase();
  const owner = openForTest(database);
  await mutateFunction(owner, 'take', "lock_timeout TO '5s'", "lock_timeout TO '50ms'");
  await breakIt(owner);
  const box = createTestInbox(openInboxOnPostgres(openForTest(database)));
  await box.enqueue(createInstallationJob('held', null, 'delivery'), NOON);
  await box.enqueue(createInstallationJob('free', null, 'delivery'), NOON);
  return await owner.transact(async query => {
    await query("SELECT 1 FROM inbox.jobs WHERE installation_id = 'held' FOR UPDATE");
    return await box.claim({ now: NOON, leaseMs: 60_000, slots: 9 }).then(
      jobs => jobs.map(({ installationId }) => installationId),
      (error: unknown) => error,
    );
  });
}

test('a claim skips jobs that another transaction has locked', async () => {
  expect(await claimBesideHeld(AS_IT_IS)).toEqual(['free']);
});

test('control: without SKIP LOCKED a claim waits for the other transaction', async () => {
  const waiting: Breaking = owner => mutateFunction(owner, 'take', 'SKIP LOCKED', '');
  expect(await claimBesideHeld(waiting)).toMatchObject({ code: 'away' });
});

/** Workers that claim at once, each another job: the numbers that they are given. */
async function claimsAtOnce(breakIt: Breaking): Promise<readonly number[]> {
  const database = await createDatabase();
  await breakIt(openForTest(database));
  const workers = Array.from({ length: 3 }, () =>
    createTestInbox(openInboxOnPostgres(openForTest(database))),
  );
  for (const [place, box] of workers.entries()) {
    await box.enqueue(createInstallationJob(`i-${place}`, null, 'delivery'), NOON);
  }
  const claims = workers.map(box => box.claim({ now: NOON, leaseMs: 60_000, slots: 1 }));
  return (await Promise.all(claims)).flat().map(({ claim }) => claim);
}

test('T63 concurrent claims get different numbers', async () => {
  const claims = await claimsAtOnce(AS_IT_IS);
  expect(new Set(claims).size).toBe(claims.length);
});

test('T63 control: if claims do not increase the counter, concurrent claims get the same number', async () => {
  const claims = await claimsAtOnce(owner =>
    mutateFunction(owner, 'take', "last + (given ->> 'slots')::bigint RETURNING", 'last RETURNING'),
  );
  expect(new Set(claims).size).toBe(1);
});
