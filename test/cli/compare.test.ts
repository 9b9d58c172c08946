import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { MINUTE, openMirror } from '../support/mirror/open.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';

const ALL_GONE = { findGone: async (ids: readonly string[]) => ids };
const BEFORE = '2026-05-04T12:00:00.000Z';
const AFTER = '2026-05-04T12:01:00.000Z';

/** Opens a mirror in which a credit was sold and retired between two minutes. */
async function openComparedScene() {
  const folder = temporaryFolder();
  temporaryInbox(folder);
  const scene = await openMirror({ folder });
  const { read, clock } = scene;
  await read('warehouse', [credit('c-1'), credit('c-2', { type: 'exAnte', amount: amount('7.5') })]);
  await read('retirements', [retirement('r-1')]);
  clock.at += MINUTE;
  await read('warehouse', [credit('c-1', { amount: amount('1900.25') })], ALL_GONE);
  await read('retirements', [retirement('r-1', { beneficiary: 'Äpfel' }), retirement('r-2')]);
  clock.at += MINUTE;
  const runCompare = (...argv: string[]) =>
    runCommand(['compare', ...argv], { env: { DATA_DIR: folder }, now: () => clock.at });
  return { ...scene, folder, runCompare };
}

test('compare prints the totals at both dates side by side, then the rows that differ', async () => {
  const { runCompare } = await openComparedScene();
  const { exitCode, stdout, stderr } = await runCompare('--from', BEFORE, '--to', AFTER);
  expect(exitCode).toBe(0);
  const lines = stdout.replaceAll(/ +/g, ' ').split('\n');
  expect(lines.slice(0, 5)).toEqual([
    `warehouse, before: ${BEFORE}, after: ${AFTER}:`,
    '2 credits before, 1 after: 0 added, 1 changed, 1 removed.',
    'tonnes before added changed removed after difference',
    'ex-post 100 0 1800.25 0 1900.25 1800.25',
    'ex-ante 7.5 0 0 -7.5 0 -7.5',
  ]);
  expect(lines).toContain('1 retirement before, 2 after: 1 added, 1 changed, 0 removed.');
  expect(lines).toContain('all 12.5 12.5 0 0 25 12.5');
  expect(stdout).toMatch(/\nchanged .* beneficiary +Harbour Ferries +Äpfel /);
  expect(stderr.match(/later changes may be missing/g)).toHaveLength(2);
  expect(stderr).toMatch(
    new RegExp(
      `^warehouse, retirements at ${AFTER}: The answer shows what was read until ${AFTER} \\(the oldest of 2 reads: .+\\); later changes`,
      'm',
    ),
  );
  expect(stderr).toContain('organization-1, inventory: never read completely.');
});

test('compare on a narrow terminal hides amounts and ids, but no beneficiary and no value before or after', async () => {
  const { runCompare } = await openComparedScene();
  const { stdout } = await runCompare('--from', BEFORE, '--to', AFTER, '--list', 'retirements');
  expect(stdout).not.toContain('amount_exact');
  const { folder, clock } = await openComparedScene();
  const readHeading = async (columns: number) => {
    const printed = await runCommand(['compare', '--from', BEFORE, '--to', AFTER, '--list', 'retirements'], {
      env: { DATA_DIR: folder, NO_COLOR: '1' },
      now: () => clock.at,
      terminal: true,
      columns,
    });
    for (const line of printed.stdout.split('\n').filter(text => /^(change|added|changed) /.test(text)))
      expect(line.length).toBeLessThanOrEqual(columns);
    return /^change .*$/m.exec(printed.stdout)?.[0].split(/ +/);
  };
  const kept = ['change', 'difference', 'beneficiary', 'fields', 'old_values', 'new_values'];
  const narrow = await readHeading(80);
  expect(narrow).toEqual(expect.arrayContaining(kept));
  expect(narrow).not.toContain('created_at');
  expect(await readHeading(100)).toEqual(expect.arrayContaining([...kept, 'created_at']));
});

test('compare --csv has the rows of all lists in one table', async () => {
  const { runCompare } = await openComparedScene();
  const { stdout } = await runCompare('--from', BEFORE, '--csv');
  const [header = '', ...rows] = stdout.trimEnd().split('\n');
  expect(header).toMatch(/^list,change,project_name,.*,caveats$/);
  expect(rows.map(row => row.split(',').slice(0, 2))).toEqual([
    ['warehouse', 'changed'],
    ['warehouse', 'removed'],
    ['retirements', 'added'],
    ['retirements', 'changed'],
  ]);
});

test.each([
  [
    ['--from', AFTER, '--to', BEFORE],
    2,
    `--to: expected ${AFTER} or later, got ${BEFORE}.\nGive the earlier date to --from.`,
  ],
  [['--from', '2099'], 2, '2099 is in the future.'],
  [['--from', '2025', '--list', 'retirement,stock'], 2, '--list: '],
  [['--from', '2025'], 3, 'organization-1, warehouse: not known before 2026-05-04T12:00:00.000Z'],
  [['--from', '2025', '--json'], 3, `The earliest possible date is --from ${BEFORE}.\n`],
])('compare refuses %j and says why', async (argv, exitCode, message) => {
  const { runCompare } = await openComparedScene();
  const result = await runCompare(...argv);
  expect(result).toMatchObject({ exitCode, stdout: '' });
  expect(result.stderr).toContain(message);
});
