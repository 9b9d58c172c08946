import { describe, expect, test } from 'vitest';
import { installationJob } from '../../src/inbox/job.js';
import { differences } from '../support/compare.js';
import { startInstalled } from '../support/installed.js';
import { issueCredit } from '../support/sandbox.js';

const PATIENCE = { timeout: 15_000, interval: 5 };

/** Each law is played twice: as it is, and with one safeguard taken out by a trigger in the database. */
type Damage = readonly [database: 'inbox' | 'main', trigger: string] | null;

async function startDamaged(damage: Damage) {
  const installed = await startInstalled();
  if (damage !== null) await installed.program.change(`CREATE TRIGGER ${damage[0]}.damage ${damage[1]}`);
  return installed;
}

describe('T44 the fence: a worker that was thought dead comes back with an old answer', () => {
  const NO_FENCE: Damage = ['main', 'AFTER UPDATE ON fences BEGIN UPDATE fences SET claim = -1; END'];

  async function comeBackLate(damage: Damage): Promise<string[]> {
    const { program, organizationId, creditId, retire } = await startDamaged(damage);
    const path = '/organizations/*/warehouse/inventory';
    issueCredit(program.sandbox, organizationId);
    await program.rest();
    program.registry.faults.add({ path, kind: 'delay', options: { delayMs: 1200 }, count: 1 });
    retire(30);
    await expect.poll(() => program.registry.faults.list()[0]?.remaining, PATIENCE).toBe(0);
    program.registry.credits.withdraw(organizationId, { creditId, amount: 70 });
    program.time.move(61_000);
    const late = program.worker();
    await program.startWorker();
    await expect
      .poll(() => program.rows('SELECT 1 FROM warehouse_credits WHERE credit_id = ?', creditId), PATIENCE)
      .toEqual([]);
    await program.rest();
    await expect.poll(() => late.running(), PATIENCE).toBe(0);
    return await differences(program);
  }

  test('its write is refused', async () => {
    expect(await comeBackLate(null)).toEqual([]);
  });

  test('without the fence it would bring back what is gone', async () => {
    expect(await comeBackLate(NO_FENCE)).not.toEqual([]);
  });
});

describe('the merge rule: a delivery arrives while its installation is being read', () => {
  const MERGED_WITH_RUNNING: Damage = [
    'inbox',
    `AFTER INSERT ON jobs WHEN EXISTS
      (SELECT 1 FROM jobs WHERE state = 'claimed' AND dedupe_key = NEW.dedupe_key)
     BEGIN DELETE FROM jobs WHERE id = NEW.id; END`,
  ];

  async function arriveMeanwhile(damage: Damage): Promise<string[]> {
    const { program, retire } = await startDamaged(damage);
    const path = '/organizations/*/retirements';
    program.registry.faults.add({ path, kind: 'delay', options: { delayMs: 400 }, count: 1 });
    retire(1);
    await expect.poll(() => program.registry.faults.list()[0]?.remaining, PATIENCE).toBe(0);
    retire(2);
    await program.rest();
    return await differences(program);
  }

  test('another read follows', async () => {
    expect(await arriveMeanwhile(null)).toEqual([]);
  });

  test('merged with the read that runs, it would be lost', async () => {
    expect(await arriveMeanwhile(MERGED_WITH_RUNNING)).not.toEqual([]);
  });
});

describe('T35 the emptiness gate: two answers in a row say that nearly everything is gone', () => {
  const NO_WAIT: Damage = [
    'main',
    `AFTER UPDATE OF doubted_at ON resource_states WHEN NEW.doubted_at > '2001'
     BEGIN UPDATE resource_states SET doubted_at = '2000-01-01T00:00:00.000Z'
       WHERE organization_id = NEW.organization_id AND resource = NEW.resource; END`,
  ];

  async function emptyTwice(damage: Damage): Promise<number> {
    const { program, organizationId, installationId } = await startDamaged(damage);
    for (let credit = 0; credit < 24; credit++) issueCredit(program.sandbox, organizationId, { amount: 1 });
    await program.reconcile();
    const body = { credits: [], organizationId };
    const path = '/organizations/*/warehouse/inventory';
    program.registry.faults.add({ path, kind: 'wrongShape', options: { body } });
    for (let read = 0; read < 2; read++) {
      program.time.move(5000);
      await program.inbox.enqueue([installationJob(installationId, organizationId, 'person')]);
      await program.worker().idle();
    }
    return (await program.rows('SELECT 1 FROM warehouse_credits')).length;
  }

  test('ten seconds apart they are not believed', async () => {
    expect(await emptyTwice(null)).toBe(25);
  });

  test('without the wait they would be', async () => {
    expect(await emptyTwice(NO_WAIT)).toBe(0);
  });
});
