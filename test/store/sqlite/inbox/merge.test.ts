// Checks the rule by which jobs merge, and that the check fails for broken copies of it.
import { expect, test } from 'vitest';
import { createEnqueue } from '../../../../src/store/sqlite/inbox/enqueue.js';
import { type Sqlite, runInTransaction } from '../../../../src/store/sqlite/open-database.js';
import { type NewJob, createInstallationJob } from '../../../../src/inbox/job.js';
import { openTestInbox, NOON, temporaryInbox } from '../../../support/inbox.js';

type Enqueue = (job: NewJob, now: number) => number;

/** Returns whether a read starts after the last delivery, wherever deliveries fall between claim and finish, and never two jobs wait. */
async function keepsTheLaw(create: (db: Sqlite) => Enqueue): Promise<boolean> {
  const db = temporaryInbox();
  const inbox = openTestInbox(db);
  const enqueue = create(db);
  const ask = (now: number): number =>
    runInTransaction(db, () => enqueue(createInstallationJob('a', 'acme', 'delivery'), now));
  const claim = (now: number) => inbox.claim({ now, leaseMs: 60_000, slots: 4 });

  ask(NOON);
  ask(NOON + 1);
  const first = await claim(NOON + 2);
  ask(NOON + 3);
  ask(NOON + 4);
  const beside = await claim(NOON + 1500);
  for (const held of first) await inbox.finish(held, 'read', NOON + 1500);
  const second = await claim(NOON + 1500);
  for (const held of second) await inbox.finish(held, 'read', NOON + 1600);
  const third = await claim(NOON + 9000);
  return first.length === 1 && beside.length === 0 && second.length === 1 && third.length === 0;
}

const broken: Record<string, (db: Sqlite) => Enqueue> = {
  'that merges with a running job': db => {
    const enqueue = createEnqueue(db);
    const running = db
      .prepare<[string], number>("SELECT id FROM jobs WHERE dedupe_key = ? AND state = 'running'")
      .pluck();
    return (job, now) => running.get(job.dedupeKey) ?? enqueue(job, now);
  },
  'that drops a job whose key it has seen': db => {
    const enqueue = createEnqueue(db);
    const seen = new Map<string, number>();
    return (job, now) => {
      const id = seen.get(job.dedupeKey) ?? enqueue(job, now);
      seen.set(job.dedupeKey, id);
      return id;
    };
  },
  'that merges nothing': db => {
    db.exec('DROP INDEX jobs_upcoming');
    const insert = db.prepare<[string, string], number>(
      `INSERT INTO jobs (kind, installation_id, dedupe_key, trigger, run_at, created_at)
       VALUES ('installation', 'a', 'a', 'delivery', ?, ?) RETURNING id`,
    );
    return (_job, now) => insert.pluck().get(new Date(now).toISOString(), '') ?? 0;
  },
};

test('T09 merging jobs loses no delivery and creates no needless job', async () =>
  expect(await keepsTheLaw(createEnqueue)).toBe(true));
test.each(Object.entries(broken))('control: the merge law is broken by a rule %s', async (_title, create) =>
  expect(await keepsTheLaw(create)).toBe(false),
);
