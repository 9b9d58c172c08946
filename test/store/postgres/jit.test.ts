import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../../src/store/postgres/migrate.js';
import type { Postgres } from '../../../src/store/postgres/open-postgres.js';
import { createInstallationJob } from '../../../src/inbox/job.js';
import { startServer } from '../../postgres/server.js';
import { createTestInbox, acceptedDelivery, NOON } from '../../support/inbox.js';
import { takeEmptyDatabase, openInboxOnPostgres, openForTest } from '../../support/postgres.js';

/** The folder of PostgreSQL servers on Debian and its derivatives. The server of the other tests does not compile. */
const SERVERS = '/usr/lib/postgresql';
/** From this version on a server counts what it has compiled for each statement. */
const COUNTS_IT = 15;
const NEEDED = ['lib/llvmjit.so', 'lib/pg_stat_statements.so', 'bin/initdb'];

const compiling = (existsSync(SERVERS) ? readdirSync(SERVERS) : [])
  .filter(version => Number(version) >= COUNTS_IT)
  .map(version => join(SERVERS, version))
  .find(folder => NEEDED.every(name => existsSync(join(folder, name))));

/** The statements of the inbox that such a server has compiled. */
async function compiledOf(breakIt: (owner: Postgres) => Promise<unknown>): Promise<readonly unknown[]> {
  const { server, stop } = await startServer(
    ['fsync=off', 'jit=on', 'shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.track=all'],
    compiling,
  );
  onTestFinished(stop);
  if ('missing' in server) throw new Error(server.missing);
  const { host, port } = server;
  const owner = openForTest({
    name: 'postgres',
    url: `postgres://postgres@/postgres?host=${host}&port=${port}`,
  });
  await migrate(owner, new Date(NOON).toISOString());
  await owner.query('CREATE EXTENSION pg_stat_statements');
  await breakIt(owner);
  await useEachOperation(owner);
  return await owner.query('SELECT DISTINCT query FROM pg_stat_statements WHERE jit_functions > 0');
}

async function useEachOperation(postgres: Postgres): Promise<void> {
  const box = createTestInbox(openInboxOnPostgres(postgres));
  await box.accept([acceptedDelivery()], NOON);
  await box.accept([acceptedDelivery({ installationId: 'another' })], NOON);
  await box.enqueue(createInstallationJob('asked', null, 'person'), NOON);
  const jobs = await box.claim({ now: NOON, leaseMs: 60_000, slots: 9 });
  expect(jobs.length).toBeGreaterThan(1);
  await box.at(NOON).renew(jobs, 60_000);
  for (const job of jobs) await box.finish(job, 'read', NOON);
}

test('each function that changes planner settings turns JIT compilation off', async () => {
  const { postgres } = await takeEmptyDatabase();
  const bent = await postgres.query<{ name: string; settings: string[] }>(
    `SELECT proname AS name, proconfig AS settings FROM pg_proc
     WHERE pronamespace IN ('inbox'::regnamespace, 'mirror'::regnamespace) AND array_to_string(proconfig, ' ') LIKE '%enable_%'`,
  );
  expect(bent.map(({ name }) => name).sort()).toEqual(['enqueue', 'finish', 'queue', 'store', 'take']);
  expect(bent.filter(({ settings }) => !settings.includes('jit=off'))).toEqual([]);
});

test.runIf(compiling)(
  'a server that compiles expensive plans compiles no statement of the inbox',
  async () => {
    expect(await compiledOf(async () => undefined)).toEqual([]);
  },
);

test.runIf(compiling)(
  'control: without jit = off in a claim, the server compiles its statement',
  async () => {
    expect(await compiledOf(owner => owner.query('ALTER FUNCTION inbox.take RESET jit'))).not.toEqual([]);
  },
);
