import { describe, expect, onTestFinished, test } from 'vitest';
import { createInstallationJob } from '../../src/inbox/job.js';
import { findDifferences } from '../support/compare.js';
import { startInstalled, type Program, type ProgramOptions } from '../support/program.js';
import { startProxy } from '../support/proxy.js';
import { issueCredit } from '../support/sandbox.js';
import { withResolvers } from '../support/wait.js';

const HOUR_MS = 3_600_000;

/** Each law is played twice: as it is, and with one safeguard taken out by a trigger in the database. */
type Damage = {
  readonly inFiles: readonly [database: 'inbox' | 'main', trigger: string];
  readonly inSchemas: readonly [when: string, what: string];
} | null;

async function startDamaged(damage: Damage, options: ProgramOptions = {}) {
  const installed = await startInstalled(options);
  if (damage === null) return installed;
  const { program } = installed;
  if (program.keptIn === 'PostgreSQL') await damageSchemas(program, damage.inSchemas);
  else await program.change(`CREATE TRIGGER ${damage.inFiles[0]}.damage ${damage.inFiles[1]}`);
  return installed;
}

/** Another test is given the same database. */
async function damageSchemas({ change }: Program, [when, what]: readonly [string, string]): Promise<void> {
  await change(
    `CREATE FUNCTION tests.damage() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${what}; RETURN new; END $$;
     CREATE TRIGGER damage ${when} EXECUTE FUNCTION tests.damage()`,
  );
  onTestFinished(() => change('DROP FUNCTION tests.damage() CASCADE'));
}

describe('T44 the fence: a worker that was thought dead comes back with an old answer', () => {
  const NO_FENCE: Damage = {
    inFiles: ['main', 'AFTER UPDATE ON fences BEGIN UPDATE fences SET claim = -1; END'],
    inSchemas: ['BEFORE UPDATE ON mirror.fences FOR EACH ROW', 'new.claim := -1'],
  };

  async function comeBackLate(damage: Damage): Promise<Program> {
    const { program, organizationId, creditId, retire } = await startDamaged(damage, {
      receiveOnly: true,
    });
    issueCredit(program.sandbox, organizationId);
    const [asked, released] = [withResolvers(), withResolvers()];
    let isHeld = false;
    const baseUrl = await startProxy(program.sandbox.url, () => null, {
      rewrite: path => path,
      hold: async path => {
        if (!isHeld || !path.includes('/warehouse/inventory')) return;
        isHeld = false;
        asked.resolve();
        await released.promise;
      },
    });
    const patient = { baseUrl, deadlineMs: HOUR_MS, streamDeadlineMs: HOUR_MS };
    await program.startWorker(patient);
    await program.rest();
    isHeld = true;
    retire(30);
    await asked.promise;
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
    expect(await findDifferences(await comeBackLate(null))).toEqual([]);
  });

  test('without the fence it would bring back what is gone', async () => {
    const program = await comeBackLate(NO_FENCE);
    await expect.poll(() => findDifferences(program), { interval: 5 }).not.toEqual([]);
  });
});

describe('the merge rule: a delivery arrives while its installation is being read', () => {
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

  async function arriveMeanwhile(damage: Damage): Promise<string[]> {
    const { program, retire } = await startDamaged(damage);
    const path = '/organizations/*/retirements';
    program.registry.faults.add({ path, kind: 'delay', options: { delayMs: 400 }, count: 1 });
    retire(1);
    await expect.poll(() => program.registry.faults.list()[0]?.remaining, { interval: 5 }).toBe(0);
    retire(2);
    await program.rest();
    return await findDifferences(program);
  }

  test('another read follows', async () => {
    expect(await arriveMeanwhile(null)).toEqual([]);
  });

  test('merged with the read that runs, it would be lost', async () => {
    expect(await arriveMeanwhile(MERGED_WITH_RUNNING)).not.toEqual([]);
  });
});

describe('T35 the emptiness gate: two answers in a row say that nearly everything is gone', () => {
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

  async function emptyTwice(damage: Damage): Promise<number> {
    const { program, organizationId, installationId } = await startDamaged(damage);
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

  test('ten seconds apart they are not believed', async () => {
    expect(await emptyTwice(null)).toBe(25);
  });

  test('without the wait they would be', async () => {
    expect(await emptyTwice(NO_WAIT)).toBe(0);
  });
});
