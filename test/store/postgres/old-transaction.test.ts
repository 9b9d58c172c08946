import { expect, onTestFinished, test } from 'vitest';
import { createInboxPort } from '../../../src/store/postgres/inbox/inbox-port.js';
import type { Postgres } from '../../../src/store/postgres/open-postgres.js';
import type { InboxPort } from '../../../src/inbox/port.js';
import { createInstallationJob } from '../../../src/inbox/job.js';
import { NOON } from '../../support/inbox.js';
import { openForTest, createDatabase } from '../../support/postgres.js';

const JOBS = 200;
const ROUNDS = 10;
const LEASE_MS = 60_000;
const CLAIM = { parts: [{ part: 'data', slots: 4 }], leaseMs: LEASE_MS } as const;

interface Explained {
  readonly 'QUERY PLAN': readonly [{ readonly Plan: Readonly<Record<string, number>> }];
}

/** An inbox that tells how many pages the server looked at for what it was asked. */
function weighed(real: Postgres): { inbox: InboxPort; pagesOf: (ask: () => unknown) => Promise<number> } {
  let pages = 0;
  const explained = (text: string) => `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`;
  const weigh = ({ 'QUERY PLAN': [{ Plan: plan }] }: Explained) => {
    pages += (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
  };
  const query: Postgres['query'] = async (sql, ...given) => {
    for (const plan of await real.query<Explained>(explained(sql), ...given)) weigh(plan);
    return await real.query(sql, ...given);
  };
  /** Runs an operation once to measure it, rolls that back, and runs it again. */
  const sendTransaction: Postgres['sendTransaction'] = async (settings, all, ...more) => {
    const transaction = await real.begin(`; ${settings}`);
    for (const { text, values } of all) {
      for (const plan of await transaction.query<Explained>(explained(text), values)) weigh(plan);
    }
    await transaction.rollback();
    return await real.sendTransaction(settings, all, ...more);
  };
  return {
    inbox: createInboxPort({ ...real, query, sendTransaction }, () => NOON),
    pagesOf: async ask => {
      pages = 0;
      await ask();
      return pages;
    },
  };
}

test.each([
  { when: 'the table was never analyzed', isAnalyzed: false },
  { when: 'the table was analyzed while no job waited', isAnalyzed: true },
])(
  'during a long transaction a claim reads dead rows once, not once for each due job, if $when',
  async ({ isAnalyzed }) => {
    const database = await createDatabase();
    const owner = openForTest(database);
    const plain = createInboxPort(owner, () => NOON);
    const old = await openForTest(database, 1).begin('ISOLATION LEVEL REPEATABLE READ');
    onTestFinished(old.abandon);
    await old.query('SELECT FROM inbox.jobs');
    await plain.enqueue(
      Array.from({ length: JOBS }, (_, index) =>
        createInstallationJob(`i-${index}`, `o-${index}`, 'delivery'),
      ),
    );
    for (let round = 0; round < ROUNDS; round += 1) {
      await owner.query(
        "UPDATE inbox.jobs SET state = 'running', claim = id, claimed_until = now() + interval '1 day'",
      );
      await owner.query("UPDATE inbox.jobs SET state = 'waiting', claimed_until = NULL");
    }
    if (isAnalyzed) {
      await owner.query("UPDATE inbox.jobs SET state = 'done', finished_at = now()");
      await owner.query('ANALYZE inbox.jobs');
      await owner.query("UPDATE inbox.jobs SET state = 'waiting', finished_at = NULL");
    }
    const { inbox, pagesOf } = weighed(owner);
    const dead = 2 * JOBS * ROUNDS;
    expect(await pagesOf(() => inbox.claim(CLAIM))).toBeLessThan(6 * dead);
  },
);

test('renewing or ending a job does not scan finished jobs', async () => {
  const owner = openForTest(await createDatabase());
  await owner.query(`INSERT INTO inbox.jobs (kind, dedupe_key, trigger, state, run_at, finished_at, created_at)
    SELECT 'installation', 'key ' || n, 'person', 'done', now(), now(), now() FROM generate_series(1, 20000) AS n`);
  const { inbox, pagesOf } = weighed(owner);
  const plain = createInboxPort(owner, () => NOON);
  await plain.enqueue([createInstallationJob('i-1', 'o-1', 'delivery')]);
  const { jobs } = await plain.claim(CLAIM);
  expect(jobs).toHaveLength(1);
  expect(await pagesOf(() => inbox.renew(jobs, LEASE_MS))).toBeLessThan(1000);
  const ends = jobs.map(claim => ({ claim, end: { act: 'done', outcome: 'read' } as const }));
  expect(await pagesOf(() => inbox.settle(ends))).toBeLessThan(1000);
});
