import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLastSignedFile } from '../../src/evidence/key-file.js';
import { findDifferences } from '../support/compare.js';
import { temporaryFolder } from '../support/inbox.js';
import { fillByWorkers, STORED } from '../support/mirror/by-workers.js';
import { createOrganization, issueCredit } from '../support/sandbox.js';
import { openTablesIn, openTablesOfFile } from '../support/tables.js';
import { long } from '../support/long.js';

test('a restore over the files of a killed worker counts what was lost, and the mirror then matches the registry', async () => {
  const {
    program,
    engine,
    dataDir,
    keyFile,
    tables,
    isQuiet,
    retire,
    requestReads: ask,
    storeDelivery: arrive,
    count,
    startWorker: work,
    run,
  } = await fillByWorkers();
  retire(40);
  await ask();
  const first = work();
  await expect.poll(() => count(STORED)).toBe(40);
  await expect.poll(isQuiet).toBe(true);
  const backup = join(temporaryFolder(), 'backup');
  expect(await run('backup', backup)).toMatchObject({ exitCode: 0, stdout: '' });
  expect(readdirSync(backup).toSorted()).toEqual(['certificates', 'evidence.db', 'inbox.db', 'mirror.db']);
  expect(await run('backup', backup)).toMatchObject({ exitCode: 2, stdout: '' });
  const syncs = await count('syncs');
  const log = openTablesOfFile(join(backup, 'evidence.db'));
  const leaves = Number(await log.value('SELECT count(*) FROM leaves'));
  expect(await first.stop()).toBe(0);
  const killed = work();
  await expect.poll(() => openLastSignedFile(keyFile).read()?.size ?? 0).toBeGreaterThan(leaves);
  const newest = openLastSignedFile(keyFile).read();

  program.registry.faults.add({ path: '/organizations/*/**', kind: 'delay', options: { delayMs: 30 } });
  retire(20);
  await arrive();
  await expect.poll(() => count('retirements')).toBeGreaterThan(40);
  const beside = await run('restore', backup);
  expect(beside).toMatchObject({ exitCode: 2, stdout: '' });
  expect(beside.stderr).toContain('is open in a process');
  expect(await count('retirements')).toBeGreaterThan(40);
  await killed.kill();
  expect(existsSync(join(dataDir, 'mirror.db-wal'))).toBe(true);

  await openTablesOfFile(join(backup, 'inbox.db')).change('UPDATE claims SET last = 0');
  const restored = await run('restore', backup, '--json');
  expect(restored).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('were lost') });
  const result = JSON.parse(restored.stdout);
  expect(result).toMatchObject({
    syncs: { count: syncs },
    lost: { deliveries: { count: 1 } },
    evidence: { lost: (newest?.size ?? 0) - leaves, newest: { size: newest?.size, root: newest?.root } },
  });
  expect(result.lost.syncs.count).toBeGreaterThan(0);
  expect(readdirSync(dataDir).filter(name => /restoring/.test(name))).toEqual([]);
  const aside = openTablesOfFile(join(result.aside, 'mirror.db'));
  expect(Number(await aside.value('SELECT count(*) FROM retirements'))).toBeGreaterThan(40);
  expect(await count('retirements')).toBe(40);
  expect(Number(await tables.value('SELECT last FROM claims'))).toBeGreaterThanOrEqual(
    Number(await tables.value('SELECT max(claim) FROM fences')),
  );

  program.registry.faults.clear();
  await ask();
  const last = work();
  await expect.poll(() => count(STORED)).toBe(60);
  await expect.poll(isQuiet).toBe(true);
  expect(await last.stop()).toBe(0);
  expect(await findDifferences({ ...program, ...tables })).toEqual([]);
  expect(await engine.findConsistencyFaults(Date.now())).toEqual([]);
  expect(openLastSignedFile(keyFile).read()?.origin).toBe(result.evidence.origin);
  expect(await run('verify')).toMatchObject({ exitCode: 0 });
});

long.test(
  'a backup while a worker writes is complete and holds every sync of each job that is done in it',
  async () => {
    const {
      program,
      tables,
      retire,
      requestReads: ask,
      storeDelivery: arrive,
      count,
      isQuiet,
      startWorker: work,
      run,
    } = await fillByWorkers();
    retire(30);
    for (let more = 0; more < 7; more += 1) {
      const { id } = createOrganization(program.sandbox);
      issueCredit(program.sandbox, id);
      program.registry.installations.install(program.app.id, id);
    }
    program.registry.faults.add({ path: '/organizations/*/**', kind: 'delay', options: { delayMs: 20 } });
    const worker = work();
    await ask();
    await expect.poll(() => count('installations')).toBe(8);
    const folder = temporaryFolder();
    let during = 0;
    for (let each = 0; each < 4; each += 1) {
      await arrive();
      await ask();
      const before = await count('syncs');
      await expect.poll(() => count('syncs')).toBeGreaterThan(before);
      const backup = join(folder, String(each));
      const begun = await count('syncs');
      expect(await run('backup', backup)).toMatchObject({ exitCode: 0, stdout: '' });
      if ((await count('syncs')) > begun) during += 1;
      const done = await openTablesIn(backup).column<number>("SELECT id FROM jobs WHERE state = 'done'");
      const syncsOf = `SELECT id FROM syncs WHERE job_id IN (${done.join(', ')}) ORDER BY id`;
      expect(await openTablesIn(backup).column(syncsOf)).toEqual(await tables.column(syncsOf));
    }
    expect(during).toBeGreaterThan(0);
    await expect.poll(isQuiet).toBe(true);
    expect(await worker.stop()).toBe(0);
  },
);
