import { expect, onTestFinished, test } from 'vitest';
import { getSqlState } from '../../../src/store/postgres/translate-errors.js';
import { buildGrantStatements } from '../../../src/store/contract/grants.js';
import { createReceiverPort } from '../../../src/store/postgres/inbox/receiver-port.js';
import { createInboxPort } from '../../../src/store/postgres/inbox/inbox-port.js';
import { isPollDue } from '../../../src/store/postgres/inbox/work-notifier.js';
import { openPostgres, type Postgres } from '../../../src/store/postgres/open-postgres.js';
import { createInstallationJob } from '../../../src/inbox/job.js';
import { createTestInbox, toNewDelivery, acceptedDelivery, NOON } from '../../support/inbox.js';
import {
  takeEmptyDatabase,
  openInboxOnPostgres,
  openDatabase,
  openWithRole,
  openForTest,
  createDatabase,
} from '../../support/postgres.js';
import { mutateFunction } from '../../support/mutate-sql.js';
import { until } from '../../support/wait.js';

const LEASE_MS = 60_000;
const DATA = { parts: [{ part: 'data', slots: 9 }], leaseMs: LEASE_MS } as const;

const delivery = (overrides = {}) => toNewDelivery(NOON, acceptedDelivery(overrides));
const ofInstallation = (id: string) => delivery({ installationId: id, organizationId: null });

function changing(real: Postgres, change: (sql: string) => string): Postgres {
  return {
    ...real,
    query: (sql, ...more) => real.query(change(sql), ...more),
    sendTransaction: (settings, ...more) => real.sendTransaction(change(settings), ...more),
  };
}

test('each operation of a receiver or worker takes one round trip, and a claim takes a second one only if jobs are due', async () => {
  const real = openDatabase(await takeEmptyDatabase());
  let trips = 0;
  const counted = changing(real, sql => {
    trips += 1;
    return sql;
  });
  const inbox = createInboxPort(counted, () => NOON);
  await inbox.claim(DATA);
  expect(trips, 'a claim where there is nothing to take').toBe(1);
  await inbox.store([ofInstallation('first')]);
  await inbox.claim(DATA);
  const group = Array.from({ length: 100 }, (_, index) => ofInstallation(`i-${index % 20}`));
  const held = { id: 1, claim: 1 };
  const operations = {
    store: () => inbox.store(group),
    claim: () => inbox.claim({ ...DATA, parts: [...DATA.parts, { part: 'certificates', slots: 2 }] }),
    renew: () => inbox.renew([held, { id: 2, claim: 2 }], LEASE_MS),
    bind: () => inbox.assignOrganization(held, 'acme'),
    settle: () =>
      inbox.settle(
        [1, 2, 3].map(id => ({ claim: { id, claim: id }, end: { act: 'done', outcome: 'read' } })),
      ),
    enqueue: () =>
      inbox.enqueue([createInstallationJob('a', null, 'person'), createInstallationJob('b', null, 'person')]),
    enqueueOnce: () => inbox.enqueueOnce({ kind: 'tick', dedupeKey: 'tick', trigger: 'schedule' }),
    countRejected: () =>
      inbox.countRejected([
        { reason: 'no_signature', status: 401, headerPrefix: '', rejected: 2, newestMsAgo: 0 },
        { reason: 'too_large', status: 413, headerPrefix: '', rejected: 1, newestMsAgo: 0 },
      ]),
    heartbeat: () => inbox.heartbeat({ role: 'work', host: 'here', pid: 7, startedAt: NOON }),
    prune: () => inbox.prune(90),
  };
  for (const [name, operation] of Object.entries(operations)) {
    const before = trips;
    await operation();
    expect(trips - before, name).toBe(name === 'claim' ? 2 : 1);
  }
});

/** Returns whether the server flushes the commit of a delivery, for a role with synchronous_commit off. */
async function flushAtCommit(change: (sql: string) => string): Promise<unknown> {
  const database = await takeEmptyDatabase();
  const owner = openDatabase(database);
  await owner.query('CREATE TABLE public.at_commit (flush text)');
  await owner.query(`CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO public.at_commit VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$`);
  await owner.query(`CREATE CONSTRAINT TRIGGER note AFTER INSERT ON inbox.deliveries
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.note()`);
  onTestFinished(async () => {
    await owner.query(
      'DROP TABLE public.at_commit; DROP TRIGGER note ON inbox.deliveries; DROP FUNCTION public.note()',
    );
  });
  const lazy = openForTest({ ...database, url: `${database.url}&options=-c%20synchronous_commit=off` });
  expect(await createReceiverPort(changing(lazy, change), null).store([delivery()])).toMatchObject([
    { isDuplicate: false },
  ]);
  return (await owner.query('SELECT flush FROM public.at_commit'))[0];
}

test('an acknowledged delivery was flushed to disk, even if the role has synchronous_commit off', async () => {
  expect(await flushAtCommit(sql => sql)).toEqual({ flush: 'on' });
});

test('control: if the statement does not use the result that turns the flush on, commits are not flushed', async () => {
  const broken = (sql: string) => sql.replace('FROM settings, input WHERE flush IS NOT NULL', 'FROM input');
  expect(await flushAtCommit(broken)).toEqual({ flush: 'off' });
});

/** Returns whether the server flushes each commit of a claim and of the end of its job, for a role with synchronous_commit off. */
async function flushClaims(breakIt: (owner: Postgres) => Promise<void>): Promise<unknown> {
  const database = await createDatabase();
  const owner = openForTest(database);
  await owner.query('CREATE TABLE public.at_commit (state text, flush text)');
  await owner.query(`CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO public.at_commit VALUES (NEW.state, current_setting('synchronous_commit')); RETURN NULL; END $$`);
  await owner.query(`CREATE CONSTRAINT TRIGGER note AFTER UPDATE ON inbox.jobs
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.note()`);
  await breakIt(owner);
  const lazy = openForTest({ ...database, url: `${database.url}&options=-c%20synchronous_commit=off` });
  const inbox = createInboxPort(lazy, () => NOON);
  await inbox.enqueue([createInstallationJob('a', null, 'person')]);
  const { jobs } = await inbox.claim(DATA);
  await inbox.settle(jobs.map(claim => ({ claim, end: { act: 'done', outcome: 'read' } })));
  return await owner.query('SELECT state, flush FROM public.at_commit');
}

test('claims and the ends of jobs are flushed to disk, even if the role has synchronous_commit off', async () => {
  expect(await flushClaims(async () => undefined)).toEqual([
    { state: 'running', flush: 'on' },
    { state: 'done', flush: 'on' },
  ]);
});

test('control: without turning the flush on in the functions, claims and the ends of jobs are not flushed', async () => {
  const breakBoth = async (owner: Postgres) => {
    await mutateFunction(owner, 'take', "'synchronous_commit', 'on'", "'synchronous_commit', 'off'");
    await mutateFunction(owner, 'finish', "'synchronous_commit', 'on'", "'synchronous_commit', 'off'");
  };
  expect(await flushClaims(breakBoth)).toEqual([
    { state: 'running', flush: 'off' },
    { state: 'done', flush: 'off' },
  ]);
});

/** Two receivers are sent the same installations in opposite orders, again and again. */
async function deadlocksOfReceivers(unsorted: boolean): Promise<number> {
  const database = await createDatabase();
  const owner = openForTest(database);
  if (unsorted) await mutateFunction(owner, 'store', 'ORDER BY job_key COLLATE "C"', 'ORDER BY min(n)');
  const hasty = { ...database, url: `${database.url}&options=-c%20deadlock_timeout=10ms` };
  const deadlocks: unknown[] = [];
  const counting = (real: Postgres): Postgres => ({
    ...real,
    query: async (...asked) => {
      try {
        return await real.query(...asked);
      } catch (error) {
        if (getSqlState(error) === '40P01') deadlocks.push(error);
        throw error;
      }
    },
  });
  const ids = Array.from({ length: 60 }, (_, index) => `i-${index}`);
  const receivers = [ids, ids.toReversed()].map(order => ({
    order,
    port: createReceiverPort(counting(openForTest(hasty)), null),
  }));
  for (let round = 0; round < 12 && deadlocks.length === 0; round += 1) {
    const results = await Promise.all(
      receivers.map(({ order, port }) => port.store(order.map(ofInstallation))),
    );
    expect(results.flat().filter(result => 'failure' in result)).toEqual([]);
    await owner.query("UPDATE inbox.jobs SET run_at = run_at + interval '1 hour'");
  }
  return deadlocks.length;
}

test('batches of two receivers never deadlock', async () => {
  expect(await deadlocksOfReceivers(false)).toBe(0);
});

test('control: batches deadlock if jobs are enqueued in order of arrival', async () => {
  expect(await deadlocksOfReceivers(true)).toBeGreaterThan(0);
});

/** Claims with one worker while another, which saw another job of the same organization, has not committed yet. */
async function claimBeside(prepare: string): Promise<(string | null)[]> {
  const database = await createDatabase();
  const owner = openForTest(database);
  await owner.query(prepare);
  const box = createTestInbox(openInboxOnPostgres(openForTest(database)));
  await box.enqueue(createInstallationJob('first', 'acme', 'delivery'), NOON);
  await box.enqueue(createInstallationJob('second', 'acme', 'delivery'), NOON + 1);
  await box.enqueue(createInstallationJob('other', 'other', 'delivery'), NOON + 1);
  let claimed: Promise<(string | null)[]> = Promise.resolve([]);
  await owner.transact(async query => {
    await query(`UPDATE inbox.jobs SET state = 'running', claimed_until = now() + interval '1 day', claim = 90
      WHERE installation_id = 'second'`);
    let isOver = false;
    claimed = box.claim({ now: NOON + 5, leaseMs: LEASE_MS, slots: 9 }).then(jobs => {
      isOver = true;
      return jobs.map(({ installationId }) => installationId);
    });
    const waits = () =>
      owner.query(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
    await expect.poll(async () => isOver || (await waits()).length === 1).toBe(true);
  });
  return claimed;
}

test('T63 two workers that see different jobs of one organization do not claim both', async () => {
  expect(await claimBeside('SELECT 1')).toEqual(['other']);
});

test('T63 control: without the unique index of running jobs, both claim one', async () => {
  expect(await claimBeside('DROP INDEX inbox.jobs_running_organization')).toEqual(['first', 'other']);
});

test('a job locked by another worker is left to the next claim, and no claim waits for it', async () => {
  const database = await takeEmptyDatabase();
  const box = createTestInbox(openInboxOnPostgres(openDatabase(database)));
  await box.enqueue(createInstallationJob('held', null, 'delivery'), NOON);
  await box.enqueue(createInstallationJob('free', null, 'delivery'), NOON);
  await openForTest(database).transact(async query => {
    await query("SELECT 1 FROM inbox.jobs WHERE installation_id = 'held' FOR UPDATE");
    const { jobs, moreMayWait: othersWait } = await box.at(NOON).claim(DATA);
    expect([jobs.map(({ installationId }) => installationId), othersWait]).toEqual([['free'], true]);
  });
  expect(await box.claim({ now: NOON, leaseMs: LEASE_MS, slots: 9 })).toHaveLength(1);
});

test('the rights of a receiver are enough to receive, and include none on the mirror', async () => {
  const database = await createDatabase();
  const granted = await openWithRole(openForTest(database), database, 'receive');
  const receiver = createReceiverPort(granted, null);
  const again = acceptedDelivery();
  expect(await receiver.findWriteObstacle()).toBeNull();
  expect(await receiver.store([toNewDelivery(NOON, again), toNewDelivery(NOON, again)])).toMatchObject([
    { isDuplicate: false },
    { isDuplicate: true },
  ]);
  expect(await receiver.store([toNewDelivery(NOON, again)])).toMatchObject([{ isDuplicate: true }]);
  await receiver.countRejected([
    { reason: 'no_signature', status: 401, headerPrefix: '', rejected: 1, newestMsAgo: 0 },
  ]);
  const status = await receiver.heartbeat({ role: 'receive', host: 'here', pid: 1, startedAt: NOON });
  expect(Object.keys(status.seenAt)).toEqual(['receive']);
  for (const statement of [
    'SELECT 1 FROM mirror.origin',
    'DELETE FROM inbox.deliveries',
    'DELETE FROM inbox.jobs',
    'UPDATE inbox.schema_migrations SET version = 2',
  ])
    await expect(granted.query(statement), statement).rejects.toThrow('permission denied');
});

/** What an operator or a failover does to connections, and how it ends. */
const TROUBLES: Readonly<Record<string, readonly [begin: string, end: string]>> = {
  'has no connection left': ['ALTER ROLE # CONNECTION LIMIT 0', 'ALTER ROLE # CONNECTION LIMIT -1'],
  'takes no writes, as in recovery': [
    'ALTER ROLE # SET default_transaction_read_only = on',
    'ALTER ROLE # RESET default_transaction_read_only',
  ],
};

test.each(Object.entries(TROUBLES))(
  'T17 if PostgreSQL %s, nothing is acknowledged, every delivery fails alike, and storing resumes by itself',
  async (_title, [begin, end]) => {
    const database = await createDatabase();
    const owner = openForTest(database);
    const role = `receiver_of_${database.name}`;
    await owner.query(`CREATE ROLE ${role} LOGIN`);
    for (const grant of buildGrantStatements('receive', role)) await owner.query(grant);
    const url = database.url.replace('//postgres@', `//${role}@`);
    const postgres = openPostgres({ url, name: 'test', connections: 2, onFault: () => undefined });
    onTestFinished(postgres.close);
    const receiver = createReceiverPort(postgres, null);
    const change = async (sql: string) => {
      await owner.query(sql.replace('#', role));
      await owner.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
    };
    expect(await receiver.store([delivery()])).toMatchObject([{ isDuplicate: false }]);
    await change(begin);
    const away = { failure: { code: 'away' } };
    await expect.poll(() => receiver.findWriteObstacle()).toMatchObject({ code: 'away' });
    expect(await receiver.store([delivery(), delivery()])).toMatchObject([away, away]);
    await change(end);
    await expect.poll(() => receiver.store([delivery()])).toMatchObject([{ isDuplicate: false }]);
    expect(await owner.query('SELECT count(*) AS rows FROM inbox.deliveries')).toEqual([{ rows: 2 }]);
  },
);

test('T17 if no server listens, the error does not contain the password', async () => {
  const faults: Error[] = [];
  const nobody = openPostgres({
    url: 'postgres://receiver:secret-of-the-receiver@127.0.0.1:1/mirror',
    name: 'test',
    connections: 2,
    onFault: error => faults.push(error),
  });
  const results = await createReceiverPort(nobody, null).store([delivery(), delivery()]);
  expect(results).toMatchObject([{ failure: { code: 'away' } }, { failure: { code: 'away' } }]);
  expect(JSON.stringify(results)).toContain('ECONNREFUSED');
  expect(JSON.stringify(results)).not.toContain('secret-of-the-receiver');
  await nobody.close();
  expect(faults).toEqual([]);
});

test('a batch that exceeds the lock timeout fails and is not stored', async () => {
  const database = await takeEmptyDatabase();
  const hasty = changing(openDatabase(database), sql =>
    sql.replace("'lock_timeout', '5000'", "'lock_timeout', '50'"),
  );
  const receiver = createReceiverPort(hasty, null);
  await openForTest(database).transact(async query => {
    await query('LOCK TABLE inbox.deliveries');
    expect(await receiver.store([delivery()])).toMatchObject([{ failure: { code: 'away' } }]);
  });
  expect(await receiver.store([delivery()])).toMatchObject([{ isDuplicate: false }]);
});

test('a watcher is woken once a second if a connection pooler drops its LISTEN', async () => {
  const real = openDatabase(await takeEmptyDatabase());
  const deaf: Postgres = { ...real, listen: async () => () => undefined };
  let woken = 0;
  const stop = createInboxPort(deaf, null).watch(() => {
    woken += 1;
  });
  onTestFinished(stop);
  await until(() => woken > 1, 'two looks');
});

test('a broken listening connection is opened again, and jobs are notified again', async () => {
  const database = await takeEmptyDatabase();
  const real = openDatabase(database);
  let ears = 0;
  const counted: Postgres = {
    ...real,
    listen: (...asked) => {
      ears += 1;
      return real.listen(...asked);
    },
  };
  onTestFinished(createInboxPort(counted, null).watch(() => undefined));
  const listening = () =>
    openForTest(database).query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'",
    );
  await expect.poll(async () => (await listening()).length).toBe(1);
  const [ear] = await listening();
  await openForTest(database).query('SELECT pg_terminate_backend($1::int)', [ear?.pid ?? 0]);
  await expect.poll(() => ears).toBe(2);
  await expect.poll(async () => (await listening()).length).toBe(1);
});

test('after ten quiet minutes a watcher polls every five seconds if it receives notifications, else every second', () => {
  const turns = (from: number, hears: boolean) =>
    Array.from({ length: 10 }, (_, index) => isPollDue(from + index, hears)).filter(Boolean).length;
  expect([turns(590, true), turns(601, true), turns(601, false)]).toEqual([10, 2, 10]);
});
