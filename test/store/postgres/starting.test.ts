import { expect, test } from 'vitest';
import { explainError } from '../../../src/cli/errors/explain-error.js';
import type { PoolOptions } from '../../../src/store/postgres/driver.js';
import { createInboxPort } from '../../../src/store/postgres/inbox/inbox-port.js';
import { migrate } from '../../../src/store/postgres/migrate.js';
import { listMigrations } from '../../../src/store/migrations.js';
import { awaitSchema, withConnections } from '../../../src/store/postgres/await-schema.js';
import { createInstallationJob } from '../../../src/inbox/job.js';
import { toNewDelivery, acceptedDelivery, NOON } from '../../support/inbox.js';
import { openMirrorOnPostgres } from '../../support/mirror/open.js';
import { credit } from '../../support/mirror/rows.js';
import { runCommand } from '../../support/command.js';
import { type TestDatabase, openForTest, createDatabase } from '../../support/postgres.js';

const DATABASE_NAMES = ['inbox', 'mirror'] as const;
const AT = new Date(NOON).toISOString();

const getPoolOptions = ({ url }: TestDatabase): PoolOptions => ({
  url,
  name: 'starting',
  connections: 1,
  onFault: () => undefined,
});

/** A process that starts; what it waits is told and not waited. */
async function start(
  database: TestDatabase,
  meanwhile: (waitedMs: number) => Promise<void> = async () => undefined,
) {
  let waitedMs = 0;
  const told: string[] = [];
  const wait = async (ms: number) => {
    waitedMs += ms;
    await meanwhile(waitedMs);
  };
  const fault = await withConnections(getPoolOptions(database), postgres =>
    awaitSchema(postgres, DATABASE_NAMES, what => told.push(what), wait),
  ).then(
    () => null,
    (error: unknown) => explainError(error),
  );
  return { waitedMs, told, fault };
}

test('a process that finds no schema waits one minute and then exits with code 2 and one sentence', async () => {
  const { waitedMs, told, fault } = await start(await createDatabase({ migrated: false }));
  expect(waitedMs).toBeGreaterThan(59_000);
  expect(waitedMs).toBeLessThanOrEqual(60_000);
  expect(told).toEqual([expect.stringMatching(/run "carbon-mirror migrate" first$/)]);
  expect(fault).toEqual({
    exitCode: 2,
    lines: [expect.stringMatching(/run "carbon-mirror migrate" first$/)],
  });
});

test('a waiting process continues as soon as another one has migrated', async () => {
  const database = await createDatabase({ migrated: false });
  const owner = openForTest(database, 1);
  const { waitedMs, fault } = await start(database, async waited => {
    if (waited === 2000) await migrate(owner, AT);
  });
  expect({ waitedMs, fault }).toEqual({ waitedMs: 2000, fault: null });
});

test('a process waits one minute for an unreachable server, but not for a schema of another program', async () => {
  const nobody = { name: 'mirror', url: 'postgres://postgres@127.0.0.1:1/mirror' };
  expect(await start(nobody)).toMatchObject({
    waitedMs: 59_500,
    told: { length: 1 },
    fault: { exitCode: 5 },
  });
  const latin = await createDatabase({ migrated: false });
  await openForTest(latin, 1).query(
    'CREATE TABLE public.theirs (); CREATE SCHEMA mirror; CREATE TABLE mirror.t ()',
  );
  await openForTest(latin, 1).query('CREATE SCHEMA inbox; CREATE TABLE inbox.t ()');
  expect(await start(latin)).toMatchObject({ waitedMs: 0, told: [], fault: { exitCode: 2 } });
});

test('ten concurrent migrate commands succeed, and each file is applied once', async () => {
  const env = { MIRROR_DATABASE_URL: (await createDatabase({ migrated: false })).url };
  const ended = await Promise.all(
    Array.from({ length: 10 }, () => runCommand(['migrate', '--json'], { env })),
  );
  expect(ended.filter(({ exitCode }) => exitCode !== 0)).toEqual([]);
  const applied = ended.flatMap(({ stdout }): unknown[] => JSON.parse(stdout));
  expect(applied).toHaveLength(
    [...DATABASE_NAMES, 'evidence' as const, 'events' as const].flatMap(schema =>
      listMigrations('postgres', schema),
    ).length,
  );
});

/** Changes that a later version may make to a schema: it only adds columns. */
const LATER = (newest: number) => `
  ALTER TABLE mirror.warehouse_credits ADD COLUMN later text;
  ALTER TABLE mirror.past ADD COLUMN later text;
  ALTER TABLE mirror.syncs ADD COLUMN later bigint NOT NULL DEFAULT 0;
  ALTER TABLE mirror.resource_states ADD COLUMN later bigint;
  ALTER TABLE inbox.deliveries ADD COLUMN later text;
  ALTER TABLE inbox.jobs ADD COLUMN later integer NOT NULL DEFAULT 0;
  INSERT INTO mirror.schema_migrations VALUES (${newest + 1}, 'later.sql', now(), '')`;

test('T65 a running program of the previous version continues after columns were added, and a newly started one is refused', async () => {
  const database = await createDatabase();
  const postgres = openForTest(database);
  const stage = await openMirrorOnPostgres(postgres);
  const inbox = createInboxPort(postgres, () => NOON);
  const credits = ['c-1', 'c-2'].map(id => credit(id));
  await stage.read('warehouse', credits);
  await inbox.enqueue([createInstallationJob('installation-1', 'organization-1', 'person')]);
  await openForTest(database, 1).query(LATER(listMigrations('postgres', 'mirror').length));

  stage.clock.at += 60_000;
  await stage.read('warehouse', [credit('c-1', { vintage: '2022' }), credit('c-3')], {
    findGone: async ids => ids,
  });
  const listed = await postgres.query<{ credit_id: string }>(
    'SELECT credit_id FROM mirror.warehouse_credits ORDER BY credit_id',
  );
  expect(listed.map(row => row.credit_id)).toEqual(['c-1', 'c-3']);
  expect(await inbox.store([toNewDelivery(NOON, acceptedDelivery())])).toMatchObject([
    { isDuplicate: false },
  ]);
  const { jobs } = await inbox.claim({ parts: [{ part: 'data', slots: 2 }], leaseMs: 60_000 });
  const ends = jobs.map(
    ({ id, claim }) => ({ claim: { id, claim }, end: { act: 'done', outcome: 'read' } }) as const,
  );
  expect(await inbox.settle(ends)).not.toContain(false);

  expect(await start(database)).toMatchObject({
    waitedMs: 0,
    fault: { exitCode: 2, lines: [expect.stringContaining('written by a newer carbon-mirror')] },
  });
  const env = { MIRROR_DATABASE_URL: database.url };
  expect((await runCommand(['migrate'], { env })).exitCode).toBe(2);
});

test('up with only a database URL starts no demo and lists the missing settings', async () => {
  const { url } = await createDatabase({ migrated: false });
  const { exitCode, stdout, stderr } = await runCommand(['up'], { env: { MIRROR_DATABASE_URL: url } });
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  for (const name of ['REGISTRY_BASE_URL', 'REGISTRY_APP_ID', 'REGISTRY_PRIVATE_KEY', 'WEBHOOK_SECRETS']) {
    expect(stderr).toContain(name);
  }
});

test('sync prints once that it waits for the schema', async () => {
  const database = await createDatabase({ migrated: false });
  const owner = openForTest(database, 1);
  const env = { MIRROR_DATABASE_URL: database.url, REGISTRY_BASE_URL: 'http://127.0.0.1:1' };
  const syncing = runCommand(['sync', '--organization', 'nobody'], { env });
  const looks = `SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND state = 'idle' AND pid <> pg_backend_pid()
    AND query LIKE '%schema_migrations%'`;
  await expect.poll(async () => await owner.query(looks, [database.name])).toHaveLength(1);
  await migrate(owner, AT);
  const { stderr } = await syncing;
  expect(
    stderr.match(/^Waiting up to a minute for the database: .* run "carbon-mirror migrate" first\.$/gm),
  ).toHaveLength(1);
});
