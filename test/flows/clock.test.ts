import { expect, test } from 'vitest';
import { findDifferences } from '../support/compare.js';
import { createInstallationJob } from '../../src/inbox/job.js';
import { serializeScope } from '../../src/sync/plan.js';
import { type InstalledProgram, startInstalled } from '../support/program.js';
import { issueCredit } from '../support/sandbox.js';

const DAY_MS = 24 * 3_600_000;

/** Reads everything with a clock that is a day ahead, and then corrects the clock. */
async function startAfterClockCorrection(): Promise<InstalledProgram> {
  const installed = await startInstalled();
  const { program, retire } = installed;
  retire(5);
  await program.rest();
  program.time.move(DAY_MS);
  await program.reconcile();
  program.time.move(-DAY_MS);
  return installed;
}

async function readFreshnessStates({ program }: InstalledProgram): Promise<unknown[]> {
  return (
    await program.rows('SELECT DISTINCT coalesce(reason, state) AS state FROM freshness ORDER BY state')
  ).map(row => Object(row)['state']);
}

test('after the clock was put back, resources dated in the future are stale, and the schedule reads them at once', async () => {
  const installed = await startAfterClockCorrection();
  const { program, organizationId } = installed;
  expect(await program.rows('SELECT age_seconds FROM freshness WHERE age_seconds >= 0')).toEqual([]);
  expect(await readFreshnessStates(installed)).toEqual(['clock_changed']);
  issueCredit(program.sandbox, organizationId, { amount: 7 });
  await program.reconcile();
  expect(await readFreshnessStates(installed)).toEqual(['fresh']);
  expect(await program.rows('SELECT sum(amount_ex_post) AS amount FROM available_credits')).toEqual([
    { amount: 102 },
  ]);
  expect(await findDifferences(program)).toEqual([]);
});

test('after the clock was put back, a full sync and the schedule request every project and certificate again', async () => {
  const installed = await startAfterClockCorrection();
  const { program, organizationId, installationId, calls } = installed;
  const [project] = program.registry.projects.listAll();
  program.registry.projects.change(project?.id ?? '', { fullName: 'A name since then' });
  const full = { payload: serializeScope({ resources: null, full: true }) };
  await program.inbox.enqueue([
    { ...createInstallationJob(installationId, organizationId, 'person'), ...full },
  ]);
  await program.rest();
  expect(await program.rows('SELECT full_name FROM projects')).toEqual([{ full_name: 'A name since then' }]);
  const ahead = (table: string, column: string) =>
    program.rows(`SELECT 1 FROM ${table} WHERE ${column} > ?`, new Date(program.time.now()).toISOString());
  expect(await ahead('project_states', 'checked_at')).toEqual([]);
  expect(await ahead('certificates', 'checked_at')).toEqual([]);
  expect(calls('/projects/x')).toBe(0);
});
