import { expect, test } from 'vitest';
import { createInboxPort } from '../../../src/store/postgres/inbox/inbox.js';
import type { Postgres } from '../../../src/store/postgres/open.js';
import { installationJob, type NewJob } from '../../../src/inbox/job.js';
import { boxIn } from '../../support/box.js';
import { breakFunction } from '../../support/broken-function.js';
import { inboxOn } from '../../support/engines.js';
import { NOON } from '../../support/inbox.js';
import { openTemporary, temporaryDatabase } from '../../support/postgres.js';
import { until } from '../../support/wait.js';

type Breaking = (owner: Postgres) => Promise<void>;

const AS_IT_IS: Breaking = async () => undefined;
const TICK: NewJob = { kind: 'tick', dedupeKey: 'tick', trigger: 'schedule' };
const LOCKED =
  "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/** Asks once for a job while somebody else has done so and has not committed yet. */
async function askBeside(breakIt: Breaking): Promise<number | null> {
  const database = await temporaryDatabase();
  const owner = openTemporary(database);
  await breakIt(owner);
  let asked: Promise<number | null> = Promise.resolve(null);
  await owner.transact(async query => {
    await createInboxPort({ ...owner, query }, () => NOON).enqueueOnce(TICK);
    asked = createInboxPort(openTemporary(database), () => NOON).enqueueOnce(TICK);
    await until(async () => (await owner.query(LOCKED)).length === 1, 'the second to wait for the first');
  });
  return await asked;
}

test('who asks once for a job that another has asked for, and not yet committed, is given none', async () => {
  expect(await askBeside(AS_IT_IS)).toBeNull();
});

test('they would be given it too, did they not wait for one another first', async () => {
  const hasty: Breaking = owner =>
    breakFunction(owner, 'enqueue', 'PERFORM pg_advisory_xact_lock(', 'PERFORM (');
  expect(await askBeside(hasty)).toBe(1);
});

/** Of an installation that was just read and one that never was, who comes first. */
async function firstOf(breakIt: Breaking): Promise<string | null | undefined> {
  const database = await temporaryDatabase();
  await breakIt(openTemporary(database));
  const box = boxIn(inboxOn(openTemporary(database)));
  const claim = (now: number) => box.claim({ now, leaseMs: 60_000, slots: 1 });
  await box.enqueue(installationJob('often', null, 'delivery'), NOON);
  const [read] = await claim(NOON);
  if (read !== undefined) await box.finish(read, 'read', NOON + 1);
  await box.enqueue(installationJob('often', null, 'delivery'), NOON + 2);
  await box.enqueue(installationJob('never', null, 'delivery'), NOON + 60_000);
  return (await claim(NOON + 120_000))[0]?.installationId;
}

test('the installation that was not read for longest comes first, however long another waits', async () => {
  expect(await firstOf(AS_IT_IS)).toBe('never');
});

test('it would not, were claims given by how long jobs have waited', async () => {
  const unfair: Breaking = owner =>
    breakFunction(
      owner,
      'take',
      'ORDER BY running, first DESC, started NULLS FIRST, run_at',
      'ORDER BY run_at',
    );
  expect(await firstOf(unfair)).toBe('often');
});

/** Claims beside somebody who holds a job; who waits for that gives up soon. */
async function claimBesideHeld(breakIt: Breaking): Promise<unknown> {
  const database = await temporaryDatabase();
  const owner = openTemporary(database);
  await breakIt(owner);
  const real = openTemporary(database);
  const hasty: Postgres = {
    ...real,
    query: (sql, ...more) =>
      real.query(sql.replace("'lock_timeout', '5000'", "'lock_timeout', '50'"), ...more),
  };
  const box = boxIn(inboxOn(hasty));
  await box.enqueue(installationJob('held', null, 'delivery'), NOON);
  await box.enqueue(installationJob('free', null, 'delivery'), NOON);
  return await owner.transact(async query => {
    await query("SELECT 1 FROM inbox.jobs WHERE installation_id = 'held' FOR UPDATE");
    return await box.claim({ now: NOON, leaseMs: 60_000, slots: 9 }).then(
      jobs => jobs.map(({ installationId }) => installationId),
      (error: unknown) => error,
    );
  });
}

test('a claim passes by what somebody else holds', async () => {
  expect(await claimBesideHeld(AS_IT_IS)).toEqual(['free']);
});

test('it would wait for it, did it not skip what is locked', async () => {
  const waiting: Breaking = owner =>
    breakFunction(owner, 'take', 'FOR UPDATE OF job SKIP LOCKED', 'FOR UPDATE OF job');
  expect(await claimBesideHeld(waiting)).toMatchObject({ code: 'away' });
});
