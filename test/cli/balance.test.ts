import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { reservation } from '../support/reservation.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';
import { fillOrganizations, MINUTE, openMirror } from '../support/mirror/open.js';

const USED_AT = '2026-05-04T12:01:30Z';

interface BalanceJson {
  readonly rows: readonly { readonly kind: string; readonly what: string; readonly identity: string }[];
}

const selectKind = ({ rows }: BalanceJson, kind: string) => rows.filter(row => row.kind === kind);

async function openBalanceScene() {
  const folder = temporaryFolder();
  temporaryInbox(folder);
  const scene = await openMirror({ folder });
  const runBalance = (...argv: string[]) =>
    runCommand(['balance', ...argv], { env: { DATA_DIR: folder }, now: () => scene.clock.at });
  /** Reads a warehouse, retirements and reservations; each amount of `used` is a finished reservation. */
  const show = async (warehouse: string, retired: readonly string[], used: readonly string[] = []) => {
    scene.clock.at += MINUTE;
    await scene.read('warehouse', [credit('c-1', { amount: amount(warehouse), vintage: '2021' })]);
    await scene.read('inventory', []);
    const holds = used.map((tonnes, index) => {
      const done = { state: 'finished', isComplete: true, serialization: 'ICR-ISL-354-1-14-R-0-2021' };
      return reservation(`h-${index}`, {
        ...done,
        amount: amount(tonnes),
        createdAt: USED_AT,
        updatedAt: USED_AT,
      });
    });
    await scene.read('reservations', holds, { limit: 10, total: holds.length });
    const all = retired.map((tonnes, index) =>
      retirement(`r-${index}`, { amount: amount(tonnes), createdAt: USED_AT }),
    );
    await scene.read('retirements', all, { limit: 10, total: all.length });
  };
  await show('100', []);
  await show('98', ['2']);
  return { ...scene, ask: runBalance, show };
}

test('balance prints one row per sum, with the increases and decreases observed between reads', async () => {
  const { ask } = await openBalanceScene();
  const { exitCode, stdout } = await ask();
  expect(exitCode).toBe(0);
  expect(stdout.split('\n').map(line => line.replace(/ {2,}/g, '  '))).toEqual([
    'identity  organization_name  what  type  rows  opening  rose  fell  found  expected  difference  balanced',
    'retirements  organization-1  by beneficiary  -  1  -  -  -  2  2  0  yes',
    'retirements  organization-1  by certificate  -  1  -  -  -  2  2  0  yes',
    'retirements  organization-1  by month  -  1  -  -  -  2  2  0  yes',
    'credits  organization-1  warehouse  exPost  1  100  0  2  98  98  0  yes',
    '',
    'All 4 checks passed.',
    '',
  ]);
});

test('balance reports no verdict before the first read', async () => {
  const folder = temporaryFolder();
  temporaryInbox(folder);
  await openMirror({ folder });
  const runBalance = (...argv: string[]) => runCommand(['balance', ...argv], { env: { DATA_DIR: folder } });
  const { exitCode, stdout, stderr } = await runBalance();
  expect(exitCode).toBe(3);
  expect(stderr).toContain('Nothing can be checked yet');
  expect(stdout).not.toContain('balanced');
  const json = await runBalance('--json');
  expect([json.exitCode, JSON.parse(json.stdout)]).toMatchObject([3, { balanced: null }]);
});

test('balance lists the rows of sums that do not balance and exits with 3', async () => {
  const { ask, show, db } = await openBalanceScene();
  await show('98', ['2', '0.5'], ['2', '0.5']);
  await db.change("UPDATE warehouse_credits SET amount_micro = amount_micro + 1 WHERE credit_id = 'c-1'");
  const { exitCode, stdout, stderr } = await ask();
  expect(exitCode).toBe(3);
  expect(stderr).toContain('Some sums do not balance.');
  expect(stdout).toContain(
    '  organization-1 warehouse c-1: 100 t at first, plus 0 t, minus 1.999999 t, but 98 t listed\n',
  );
  expect(stdout).toContain('1 of 5 checks failed.\n');
  const result = JSON.parse((await ask('--json')).stdout);
  expect(result.balanced).toBe(false);
  expect(selectKind(result, 'difference')).toMatchObject([
    {
      identity: 'credits',
      found_micro: 98_000_000,
      expected_micro: 98_000_001,
      difference_micro: -1,
      balanced: false,
      why: {
        code: 'moved_differently',
        opening_micro: 100_000_000,
        risen_micro: 0,
        fallen_micro: 1_999_999,
        listed_micro: 98_000_000,
      },
    },
  ]);
  const csv = (await ask('--csv')).stdout.split('\n');
  expect(csv.at(-2)).toMatch(
    /,moved_differently opening_micro=\d+ risen_micro=0 fallen_micro=1999999 listed_micro=98000000,$/,
  );
  expect(csv[0]).toMatch(
    /^identity,organization_name,organization_id,what,.*,difference_micro,balanced,why,caveats$/,
  );
});

test('a terminal shows totals, failed sums and the first 20 sums of organizations; CSV and pipes have all', async () => {
  const { mirror, clock, read, db, folder } = await openBalanceScene();
  await fillOrganizations({ mirror, clock, read }, 30);
  await db.change(
    "UPDATE warehouse_credits SET amount_micro = amount_micro + 1000000 WHERE credit_id = 'c-7-0'",
  );
  const options = { env: { DATA_DIR: folder }, now: () => clock.at };
  const seen = await runCommand(['balance'], { ...options, terminal: true, columns: 200 });
  const lines = seen.stdout.split('\n');
  const warehouses = lines.filter(line => /^credits .* warehouse /.test(line));
  expect(warehouses[0]).toMatch(/^credits +- +warehouse/);
  expect(warehouses[1]).toMatch(/organization-7 .* NO *$/);
  expect(
    lines.filter(line => /organization-\d/.test(line) && line.startsWith('credits')).length,
  ).toBeLessThanOrEqual(20);
  expect(seen.stderr).toMatch(/\d+ sums of single organizations not shown. Use --csv for all./);
  const whole = await runCommand(['balance', '--csv'], options);
  expect(whole.stdout.match(/^credits,[^,]*,organization-\d+,/gm)?.length).toBeGreaterThanOrEqual(30);
  expect(
    (await runCommand(['balance'], options)).stdout.match(/organization-\d+ +warehouse/g)?.length,
  ).toBeGreaterThanOrEqual(30);
});
