import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { type InstalledProgram, startInstalled } from '../support/program.js';

const RETIREMENTS_SQL =
  'SELECT id, organization_id, reason, beneficiary, amount, amount_micro, amount_exact, created_at, valid_from, document FROM retirements ORDER BY id';
const RESTORE_ADVICE = '"carbon-mirror sync --full" restores current data from the registry';

const DAY_MS = 86_400_000;

interface VerifyFault {
  readonly check: string;
  readonly where: string;
}

interface ForgedMirror extends InstalledProgram {
  readonly changeFirstRetirement: (sql: string) => Promise<void>;
  readonly run: (...argv: string[]) => Promise<{ exitCode: number; stdout: string; stderr: string }>;
  readonly listFaults: (...argv: string[]) => Promise<string[]>;
}

/** Starts a mirror of three retirements. `changeFirstRetirement` changes the first one by hand. */
async function startForgedMirror(): Promise<ForgedMirror> {
  const installed = await startInstalled();
  const { program, retire } = installed;
  for (const amount of [1, 2, 3]) retire(amount);
  await program.rest();
  await program.worker().stop();
  const run: ForgedMirror['run'] = (...argv) => runCommand(argv, { env: program.env, now: program.time.now });
  return {
    ...installed,
    run,
    changeFirstRetirement: set =>
      program.change(`UPDATE retirements SET ${set} WHERE id = (SELECT min(id) FROM retirements)`),
    listFaults: async (...argv) => {
      const { stdout } = await run('verify', ...argv, '--json');
      const { faults }: { readonly faults: readonly VerifyFault[] } = JSON.parse(stdout);
      return faults.map(({ check, where }) => `${check}: ${where}`);
    },
  };
}

test('T89 a column that was changed by hand is reported, and a full sync restores it', async () => {
  const { program, changeFirstRetirement, run, listFaults } = await startForgedMirror();
  const before = await program.rows(RETIREMENTS_SQL);
  await changeFirstRetirement("beneficiary = 'Somebody Else', created_at = '2020-01-01T00:00:00.000Z'");
  expect(await listFaults()).toContainEqual(
    expect.stringMatching(
      /^each column of retirements matches its document: version \d+: beneficiary, created_at$/,
    ),
  );
  const outcome = await run('verify');
  expect(outcome).toMatchObject({ exitCode: 3, stderr: expect.stringContaining(RESTORE_ADVICE) });
  const { stdout: explained } = await run('retirements', 'show', String(before[0]?.['id']));
  expect(explained).toContain(
    'The row was edited by hand: its stored JSON contradicts beneficiary, created_at.',
  );
  expect(explained).not.toContain('Confirmed unchanged');
  const { exitCode, stdout, stderr } = await run('sync', '--full', '--json');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.anything() });
  const synced: { readonly resource: string; readonly noted: boolean; readonly error: string | null }[] =
    JSON.parse(stdout).resources;
  expect(synced.filter(({ noted }) => noted)).toMatchObject([
    {
      resource: 'retirements',
      changed: 0,
      error: `changed by hand, now restored: ${String(before[0]?.['id'])} (beneficiary, created_at)`,
    },
  ]);
  expect(await program.rows(RETIREMENTS_SQL)).toEqual(before);
  expect(await listFaults('--against-registry')).toEqual([]);
});

test('T89 a column changed together with its document is found only against the registry, and a full sync replaces both', async () => {
  const { program, changeFirstRetirement, run, listFaults } = await startForgedMirror();
  const before = await program.rows(RETIREMENTS_SQL);
  await changeFirstRetirement("reason = 'for bad', document = replace(document, 'for good', 'for bad')");
  const alone = await run('verify');
  expect(alone).toMatchObject({ exitCode: 0, stdout: '' });
  expect(alone.stderr).toContain('The mirror is consistent');
  expect(alone.stderr).toContain('use "carbon-mirror verify --against-registry"');
  const { id, organization_id: owner } = Object(before[0]);
  expect(await listFaults('--against-registry')).toEqual([`retirements of ${owner}: ${id}`]);
  expect(await run('sync', '--full')).toMatchObject({ exitCode: 0 });
  const values = (rows: readonly object[]) => rows.map(row => ({ ...row, valid_from: null }));
  expect(values(await program.rows(RETIREMENTS_SQL))).toEqual(values(before));
  expect(await listFaults('--against-registry')).toEqual([]);
});

test('T89 a valid_from that contradicts its sync is reported, and no sync invents another', async () => {
  const { program, changeFirstRetirement, run, listFaults } = await startForgedMirror();
  program.time.move(30 * DAY_MS);
  for (const days of [-2, 2]) {
    const at = new Date(program.time.now() - 30 * DAY_MS + days * DAY_MS).toISOString();
    await changeFirstRetirement(`valid_from = '${at}'`);
    expect(await listFaults()).toEqual([
      expect.stringMatching(/^each version of retirements matches the list and time of its sync: /),
    ]);
    expect(await run('sync', '--full')).toMatchObject({ exitCode: 0 });
    expect(
      await program.value(
        'SELECT min(valid_from) FROM retirements WHERE id = (SELECT min(id) FROM retirements)',
      ),
    ).toBe(at);
  }
  expect((await run('verify')).stderr).toContain(
    'only a backup restores dates, past versions and damaged files',
  );
});
