import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { readStoreSettings } from '../../../src/app/config/read-settings.js';
import { createInstallationJob } from '../../../src/inbox/job.js';
import type { Query, Reader } from '../../../src/store/contract/reader.js';
import { listRelations } from '../../../src/store/migrations.js';
import { openEngine } from '../../../src/store/open-engine.js';
import { runCommand } from '../../support/command.js';
import { fillByWorkers, STORED } from '../../support/mirror/by-workers.js';
import { chooseLength } from '../../support/long.js';
import { createDatabase } from '../../support/postgres.js';
import { startWorkProcess } from '../../support/work-process.js';

const COMPARED = [...listRelations('sqlite', 'inbox'), ...listRelations('sqlite', 'mirror')]
  .filter(({ kind, name }) => kind === 'table' || name.endsWith('_history'))
  .map(({ name, columns }) => {
    const told = Object.keys(columns).filter(column => column !== 'cells');
    return sql<object>`SELECT ${sql.join(told.map(column => sql.ref(column)))} FROM ${sql.table(name)}`;
  });

const inSomeOrder = async (reader: Reader, statement: Query<object>) =>
  (await reader.all(statement)).map(row => JSON.stringify(row)).toSorted();

test('files moved into a database are equal in every column and certificate, and the next sync writes nothing', async () => {
  const {
    program,
    tables,
    dataDir,
    keyFile,
    retire,
    requestReads: ask,
    storeDelivery: arrive,
    count,
    isQuiet,
    startWorker: work,
    run,
  } = await fillByWorkers();
  const retirements = chooseLength(150, 2000);
  retire(retirements);
  await ask();
  const first = work();
  await expect.poll(() => count(STORED), { timeout: 300_000 }).toBe(retirements);
  await expect.poll(isQuiet).toBe(true);
  await arrive();
  await expect.poll(isQuiet).toBe(true);
  expect(await run('move', '--to', 'postgres')).toMatchObject({ exitCode: 2 });
  const { url } = await createDatabase();
  const there = { MIRROR_DATABASE_URL: url };
  const moveThere = () => runCommand(['move', '--to', 'postgres'], { env: { DATA_DIR: dataDir, ...there } });
  expect((await moveThere()).stderr).toContain('is open in a process');
  expect(await first.stop()).toBe(0);

  const at = "'2026-01-01T00:00:00.000Z'";
  for (const key of ['a', 'b'])
    await tables.change(
      `INSERT INTO jobs (kind, dedupe_key, trigger, run_at, created_at, state, claimed_until, organization_id)
       VALUES ('twice', '${key}', 'person', ${at}, ${at}, 'running', ${at}, 'one')`,
    );
  expect(await moveThere()).toMatchObject({ exitCode: 1, stdout: '' });
  for (const command of [['status'], ['query', 'SELECT count(*) FROM retirements']]) {
    const refused = await runCommand(command, { env: there });
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toContain('run "carbon-mirror move --to postgres" again');
  }
  for (const schema of ['inbox', 'mirror', 'evidence', 'events'] as const)
    await expect(
      openEngine(readStoreSettings(there)).prepare([schema], Date.now(), () => undefined),
    ).rejects.toMatchObject({ code: 'unfinished' });
  await tables.change("DELETE FROM jobs WHERE kind = 'twice'");

  const moved = await moveThere();
  expect(moved).toMatchObject({ exitCode: 0, stdout: '' });
  expect(moved.stderr).toContain(` and ${retirements} certificates, and compared each`);
  expect((await moveThere()).stderr).toContain('in use already');
  const [files, reader] = await Promise.all([
    openEngine(readStoreSettings({ DATA_DIR: dataDir })).openReader(),
    openEngine(readStoreSettings(there)).openReader(),
  ]);
  for (const statement of COMPARED)
    expect(await inSomeOrder(reader, statement)).toEqual(await inSomeOrder(files, statement));
  await files.close();
  const env = { ...there, EVIDENCE_KEY_FILE: keyFile };
  const { exitCode, stdout } = await run('verify');
  expect(exitCode).toBe(0);
  expect(await runCommand(['verify'], { env })).toMatchObject({ exitCode, stdout });

  const engine = openEngine(readStoreSettings(there));
  const changes = () => reader.all(sql`SELECT * FROM mirror.changes`);
  const [newestSync] = await reader.all(sql<{ id: number }>`SELECT max(id) AS id FROM mirror.syncs`);
  const newest = newestSync?.id ?? null;
  const before = await changes();
  const inbox = await engine.openInbox(Date.now);
  const installations = program.registry.store.tables.installations.list();
  await inbox.enqueue(
    installations.map(each => createInstallationJob(each.id, each.organizationId, 'person')),
  );
  const next = startWorkProcess({ url: program.sandbox.url, app: program.app, dataDir, env });
  const syncs = () =>
    reader.all(sql<{ resource: string }>`SELECT resource, state, rows_added, rows_changed, rows_removed
      FROM mirror.syncs WHERE id > ${newest}`);
  await expect
    .poll(async () => (await syncs()).filter(({ resource }) => resource === 'retirements').length)
    .toBeGreaterThan(0);
  await expect.poll(async () => (await inbox.countJobs()).running).toBe(0);
  expect(await next.stop()).toBe(0);
  for (const sync of await syncs())
    expect(sync).toMatchObject({ rows_added: 0, rows_changed: 0, rows_removed: 0 });
  expect(await changes()).toEqual(before);
  await inbox.close();
  await reader.close();
});
