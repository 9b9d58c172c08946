import { expect, test } from 'vitest';
import { findDifferences } from '../support/compare.js';
import { startInstalled } from '../support/program.js';
import { createOrganization, issueCredit } from '../support/sandbox.js';

const RETIREMENTS = '/organizations/*/retirements';

test('a delivery during the read of a long list has the warehouse read before the list ends', async () => {
  const { program, organizationId, installationId, retire } = await startInstalled();
  for (let retirement = 0; retirement < 120; retirement++) retire(0.1);
  await program.rest();
  program.registry.faults.add({ path: RETIREMENTS, kind: 'delay', options: { delayMs: 1500 }, count: 2 });
  const began = program.ended.length;
  issueCredit(program.sandbox, organizationId, { amount: 9 });
  program.registry.installations.acceptPermissions(installationId);
  await expect
    .poll(async () => (await program.rows('SELECT 1 FROM warehouse_credits')).length, { interval: 5 })
    .toBe(2);
  issueCredit(program.sandbox, organizationId, { amount: 11 });
  program.registry.installations.acceptPermissions(installationId);
  await expect
    .poll(async () => (await program.rows('SELECT 1 FROM warehouse_credits')).length, { interval: 5 })
    .toBe(3);
  expect(program.ended.slice(began)).toEqual([]);
  await program.rest();
  expect(await findDifferences(program)).toEqual([]);
});

test('huge organizations in every slot do not keep small ones waiting', async () => {
  const { program, retire } = await startInstalled({ worker: { concurrency: 1 } });
  for (let retirement = 0; retirement < 150; retirement++) retire(0.1);
  await program.rest();
  const { faults, installations } = program.registry;
  faults.add({ path: RETIREMENTS, kind: 'pageSize', options: { rows: 1 } });
  retire(0.1);
  await expect.poll(async () => (await program.inbox.countJobs()).running, { interval: 5 }).toBe(1);
  const began = program.ended.length;
  const small = createOrganization(program.sandbox);
  issueCredit(program.sandbox, small.id);
  installations.install(program.app.id, small.id);
  const isRead = async () =>
    (await program.rows('SELECT 1 FROM warehouse_credits WHERE organization_id = ?', small.id)).length;
  await expect.poll(isRead, { interval: 5 }).toBe(1);
  expect(program.ended.slice(began).filter(({ kind }) => kind === 'installation').length).toBeLessThanOrEqual(
    1,
  );
  expect(program.worker().countRuns()).toBeGreaterThanOrEqual(1);
  await program.rest();
  expect(await findDifferences(program)).toEqual([]);
});

test('a tick removes history older than the retention that proves nothing, and keeps rows', async () => {
  const { program, retire } = await startInstalled({ context: { retentionDays: 90 } });
  retire(1);
  await program.rest();
  await program.reconcile();
  const idle = `SELECT id FROM syncs AS run WHERE rows_added + rows_changed + rows_removed = 0 AND started_at <= ?
    AND id < (SELECT max(id) FROM syncs AS later WHERE later.resource = run.resource AND date(later.started_at) = date(run.started_at))`;
  const now = new Date(program.time.now()).toISOString();
  expect((await program.rows(idle, now)).length).toBeGreaterThan(0);
  await program.reconcile(91 * 24 * 3_600_000);
  expect(await program.rows(idle, now)).toEqual([]);
  expect(await program.rows('SELECT 1 FROM deliveries')).toHaveLength(1);
  expect(await findDifferences(program)).toEqual([]);
});
