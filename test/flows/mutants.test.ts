import { describe, expect, onTestFinished, test } from 'vitest';
import { createInstallationJob } from '../../src/inbox/job.js';
import { findDifferences } from '../support/compare.js';
import { startInstalled, type Program, type ProgramOptions } from '../support/program.js';
import { startProxy } from '../support/proxy.js';
import { issueCredit } from '../support/sandbox.js';
import { withResolvers } from '../support/wait.js';

const HOUR_MS = 3_600_000;

/** Each rule is tested twice: intact, and with one safeguard removed by a database trigger. */
type Damage = {
  readonly inFiles: readonly [database: 'inbox' | 'main', trigger: string];
  readonly inSchemas: readonly [when: string, what: string];
} | null;

async function startWithDamage(damage: Damage, options: ProgramOptions = {}) {
  const installed = await startInstalled(options);
  if (damage === null) return installed;
  const { program } = installed;
  if (program.keptIn === 'PostgreSQL') await damageSchemas(program, damage.inSchemas);
  else await program.change(`CREATE TRIGGER ${damage.inFiles[0]}.damage ${damage.inFiles[1]}`);
  return installed;
}

/** Damages a PostgreSQL database and repairs it after the test, because other tests use the same one. */
async function damageSchemas(
  { change }: Program,
  [when, statement]: readonly [string, string],
): Promise<void> {
  await change(
    `CREATE FUNCTION tests.damage() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${statement}; RETURN new; END $$;
     CREATE TRIGGER damage ${when} EXECUTE FUNCTION tests.damage()`,
  );
  onTestFinished(() => change('DROP FUNCTION tests.damage() CASCADE'));
}

describe('T44 fencing: a worker that lost its claim returns with an old response', () => {
  const NO_FENCE: Damage = {
    inFiles: ['main', 'AFTER UPDATE ON fences BEGIN UPDATE fences SET claim = -1; END'],
    inSchemas: ['BEFORE UPDATE ON mirror.fences FOR EACH ROW', 'new.claim := -1'],
  };

  async function returnAfterLostClaim(damage: Damage): Promise<Program> {
    const { program, organizationId, creditId, retire } = await startWithDamage(damage, {
      receiveOnly: true,
    });
    issueCredit(program.sandbox, organizationId);
    const [requested, released] = [withResolvers(), withResolvers()];
    let isHeld = false;
    const baseUrl = await startProxy(program.sandbox.url, () => null, {
      rewrite: path => path,
      hold: async path => {
        if (!isHeld || !path.includes('/warehouse/inventory')) return;
        isHeld = false;
        requested.resolve();
        await released.promise;
      },
    });
    const patient = { baseUrl, deadlineMs: HOUR_MS, streamDeadlineMs: HOUR_MS };
    await program.startWorker(patient);
    await program.rest();
    isHeld = true;
    retire(30);
    await requested.promise;
    program.registry.credits.withdraw(organizationId, { creditId, amount: 70 });
    program.time.move(61_000);
    const late = program.worker();
    await program.startWorker(patient);
    await expect
      .poll(() => program.rows('SELECT 1 FROM warehouse_credits WHERE credit_id = ?', creditId), {
        interval: 5,
      })
      .toEqual([]);
    await program.rest();
    released.resolve();
    await expect.poll(() => late.countRuns(), { interval: 5 }).toBe(0);
    return program;
  }

  test('its write is refused', async () => {
    expect(await findDifferences(await returnAfterLostClaim(null))).toEqual([]);
  });

  test('without fencing the write restores a removed row', async () => {
    const program = await returnAfterLostClaim(NO_FENCE);
    await expect.poll(() => findDifferences(program), { interval: 5 }).not.toEqual([]);
  });
});

describe('merging jobs: a delivery arrives during a read of its installation', () => {
  const IS_RUNNING =
    "EXISTS (SELECT 1 FROM inbox.jobs WHERE state = 'running' AND dedupe_key = NEW.dedupe_key)";
  const MERGED_WITH_RUNNING: Damage = {
    inFiles: [
      'inbox',
      `AFTER INSERT ON jobs WHEN ${IS_RUNNING.replace('inbox.', '')} BEGIN DELETE FROM jobs WHERE id = NEW.id; END`,
    ],
    inSchemas: [
      'AFTER INSERT ON inbox.jobs FOR EACH ROW',
      `IF ${IS_RUNNING} THEN DELETE FROM inbox.jobs WHERE id = NEW.id; END IF`,
    ],
  };

  async function deliverDuringRead(damage: Damage): Promise<string[]> {
    const { program, retire } = await startWithDamage(damage);
    const path = '/organizations/*/retirements';
    program.registry.faults.add({ path, kind: 'delay', options: { delayMs: 400 }, count: 1 });
    retire(1);
    await expect.poll(() => program.registry.faults.list()[0]?.remaining, { interval: 5 }).toBe(0);
    retire(2);
    await program.rest();
    return await findDifferences(program);
  }

  test('the delivery causes another read', async () => {
    expect(await deliverDuringRead(null)).toEqual([]);
  });

  test('if it were merged into the running read, its change would be lost', async () => {
    expect(await deliverDuringRead(MERGED_WITH_RUNNING)).not.toEqual([]);
  });
});

describe('T35 confirmation of removals: two responses in a row lack nearly every row', () => {
  const NO_WAIT: Damage = {
    inFiles: [
      'main',
      `AFTER UPDATE OF doubted_at ON resource_states WHEN NEW.doubted_at > '2001'
       BEGIN UPDATE resource_states SET doubted_at = '2000-01-01T00:00:00.000Z'
         WHERE organization_id = NEW.organization_id AND resource = NEW.resource; END`,
    ],
    inSchemas: [
      `BEFORE UPDATE OF doubted_at ON mirror.resource_states FOR EACH ROW WHEN (NEW.doubted_at > '2001-01-01Z')`,
      `NEW.doubted_at := '2000-01-01T00:00:00.000Z'`,
    ],
  };

  async function respondEmptyTwice(damage: Damage): Promise<number> {
    const { program, organizationId, installationId } = await startWithDamage(damage);
    for (let credit = 0; credit < 24; credit++) issueCredit(program.sandbox, organizationId, { amount: 1 });
    await program.reconcile();
    const body = { credits: [], organizationId };
    const path = '/organizations/*/warehouse/inventory';
    program.registry.faults.add({ path, kind: 'wrongShape', options: { body } });
    for (let read = 0; read < 2; read++) {
      program.time.move(5000);
      await program.inbox.enqueue([createInstallationJob(installationId, organizationId, 'person')]);
      await program.worker().idle();
    }
    return (await program.rows('SELECT 1 FROM warehouse_credits')).length;
  }

  test('responses ten seconds apart close no row', async () => {
    expect(await respondEmptyTwice(null)).toBe(25);
  });

  test('without the wait between them they close every row', async () => {
    expect(await respondEmptyTwice(NO_WAIT)).toBe(0);
  });
});
