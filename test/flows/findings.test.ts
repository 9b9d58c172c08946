import { describe, expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { type InstalledProgram, startInstalled, type Program, startProgram } from '../support/program.js';
import { createOrganization, issueCredit } from '../support/sandbox.js';

/** The profiles of the sandbox: its default responses, and responses as documented. */
const PROFILES = [
  ['default', undefined],
  ['as-documented', 'as-documented'],
] as const;
const YEAR_MS = 366 * 86_400_000;
const HOUR_MS = 3_600_000;
const WAREHOUSE = '/organizations/*/warehouse/inventory';
const INVENTORY = '/organizations/*/inventory';
const RESERVATIONS = '/organizations/*/warehouse/inventory/reservations';
const RETIREMENTS = '/organizations/*/retirements';

/** Makes the registry override fields of the objects with these ids. */
function overrideObjects(program: Program, path: string, body: Readonly<Record<string, object>>): void {
  program.registry.faults.add({ path, kind: 'overrideObjects', options: { body } });
}

const readFindings = ({ rows }: Program) =>
  rows('SELECT finding, resource, id FROM credit_findings ORDER BY id');

async function retireCredit({ program, retire }: InstalledProgram): Promise<string> {
  retire(5);
  await program.rest();
  const [row] = await program.rows('SELECT id FROM retirements');
  return String(Object(row)['id']);
}

describe.each(PROFILES)('at a registry with the profile %s', (_name, profile) => {
  test('the balance counts a reservation as reserved until it expires, is cancelled or is finished', async () => {
    const { program, organizationId, creditId } = await startInstalled({ profile });
    const { registry, app } = program;
    const { reservations } = registry;
    const reserve = (amount: number) => reservations.reserve(organizationId, app.id, { creditId, amount }).id;
    const [expired, cancelled, finished] = [reserve(10), reserve(11), reserve(12)];
    reserve(38.25);
    await program.reconcile();
    const reserved = async () => {
      const { stdout } = await runCommand(['balance', '--json'], {
        env: program.env,
        now: program.time.now,
      });
      const { balanced, rows } = JSON.parse(stdout);
      const found = rows.find(({ what }: { what: string }) => what === 'reserved');
      return [balanced, found.found_micro, found.difference_micro];
    };
    expect(await reserved()).toEqual([true, 71_250_000, 0]);
    /** The balance uses the real clock, and the program's time is ahead of it. */
    program.time.move(Date.now() - program.time.now());
    reservations.expire(expired);
    reservations.cancel(organizationId, app.id, cancelled);
    const retirementData = { reason: 'for good', beneficiaryName: 'Ada', comment: '' };
    reservations.finish(organizationId, app.id, { id: finished, action: 'retire', body: { retirementData } });
    await program.reconcile();
    expect(await reserved()).toEqual([true, 38_250_000, 0]);
    const standing = "SELECT amount_exact FROM reservations_now WHERE state_now = 'outstanding'";
    expect(await program.rows(standing)).toEqual([{ amount_exact: '38.25' }]);
  });

  test('a negative amount is a finding', async () => {
    const { program, creditId } = await startInstalled({ profile });
    overrideObjects(program, WAREHOUSE, { [creditId]: { amount: -5 } });
    await program.reconcile();
    expect(await readFindings(program)).toEqual([
      { finding: 'negative_amount', resource: 'warehouse', id: creditId },
    ]);
  });

  test('a serialization shared by two credits is a finding', async () => {
    const { program, organizationId, creditId } = await startInstalled({ profile });
    const other = issueCredit(program.sandbox, organizationId, { place: 'inventory' });
    const [row] = await program.rows('SELECT serialization FROM warehouse_credits');
    overrideObjects(program, INVENTORY, { [other]: { serialization: Object(row)['serialization'] } });
    await program.reconcile();
    const found = await program.rows('SELECT finding, id FROM credit_findings ORDER BY id');
    expect(found).toEqual([creditId, other].toSorted().map(id => ({ finding: 'serialization_twice', id })));
  });

  test('a retired credit whose listed amount does not fall is a finding', async () => {
    const installed = await startInstalled({ profile });
    const { program, creditId } = installed;
    overrideObjects(program, WAREHOUSE, { [creditId]: { amount: 100 } });
    const id = await retireCredit(installed);
    await program.reconcile();
    await program.reconcile();
    expect(await readFindings(program)).toEqual([
      { finding: 'listed_and_retired', resource: 'retirements', id },
    ]);
  });

  test('a retirement of credits from an organization that is not mirrored is no finding', async () => {
    const program = await startProgram({ profile });
    const { registry, app, sandbox } = program;
    const [giver, own] = [createOrganization(sandbox).id, createOrganization(sandbox).id];
    const creditId = issueCredit(sandbox, giver);
    const give = (action: 'transfer' | 'transfer_retire', amount: number) => {
      const { id } = registry.reservations.reserve(giver, app.id, { creditId, amount });
      const retirementData = { reason: 'for good', beneficiaryName: 'Ada', comment: '' };
      const body = { receiverId: own, ...(action === 'transfer' ? {} : { retirementData }) };
      registry.reservations.finish(giver, app.id, { id, action, body });
    };
    give('transfer', 50);
    registry.installations.install(app.id, own);
    await program.rest();
    give('transfer_retire', 5);
    await program.reconcile();
    await program.reconcile();
    expect(await program.rows('SELECT organization_id, amount_exact FROM retirements')).toEqual([
      { organization_id: own, amount_exact: '5' },
    ]);
    expect(await readFindings(program)).toEqual([]);
  });

  test('a reservation that is outstanding an hour after its expiry is a finding', async () => {
    const { program, organizationId, creditId } = await startInstalled({ profile });
    const { registry, app, time } = program;
    const { id, reservedToDate } = registry.reservations.reserve(organizationId, app.id, {
      creditId,
      amount: 5,
    });
    overrideObjects(program, RESERVATIONS, {
      [id]: { state: 'outstanding', isComplete: false, reservedToDate },
    });
    await program.reconcile();
    expect(await readFindings(program)).toEqual([]);
    time.move(2 * HOUR_MS);
    await program.reconcile();
    expect(await readFindings(program)).toEqual([
      { finding: 'reservation_outlived', resource: 'reservations', id },
    ]);
  });

  test('an amount changed after its year is a restatement, and one changed within its year is not', async () => {
    const installed = await startInstalled({ profile });
    const { program } = installed;
    const id = await retireCredit(installed);
    const year = new Date(program.time.now()).getUTCFullYear();
    overrideObjects(program, RETIREMENTS, { [id]: { amount: 4 } });
    await program.reconcile();
    expect(await program.rows("SELECT * FROM restatements WHERE resource = 'retirements'")).toEqual([]);
    program.time.move(YEAR_MS);
    overrideObjects(program, RETIREMENTS, { [id]: { amount: 3 } });
    program.registry.faults.remove(1);
    await program.reconcile();
    const restated =
      "SELECT id, year, change, before, after FROM restatements WHERE resource = 'retirements'";
    expect(await program.rows(restated)).toEqual([
      { id, year: String(year), change: 'changed', before: '4', after: '3' },
    ]);
  });

  test('a replaced certificate file is a restatement', async () => {
    const installed = await startInstalled({ profile });
    const { program } = installed;
    const id = await retireCredit(installed);
    await program.reconcile();
    const stored = () => program.rows("SELECT sha256 FROM certificates WHERE state = 'stored'");
    const [before] = await stored();
    expect(before).toBeDefined();
    program.registry.retirements.changeDetails(id, { beneficiary: 'Grace', reason: 'for better' });
    await program.reconcile(HOUR_MS);
    const [after] = await stored();
    expect(
      await program.rows(
        "SELECT id, change, before, after FROM restatements WHERE resource = 'certificates'",
      ),
    ).toEqual([{ id, change: 'changed', before: Object(before)['sha256'], after: Object(after)['sha256'] }]);
  });
});
