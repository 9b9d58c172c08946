import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';
import { MINUTE, openMirror } from '../support/mirror/open.js';

async function openChangesScene() {
  const folder = temporaryFolder();
  temporaryInbox(folder);
  const scene = await openMirror({ folder });
  const runChanges = (...argv: string[]) =>
    runCommand(['changes', ...argv], { env: { DATA_DIR: folder }, now: () => scene.clock.at });
  return { ...scene, ask: runChanges };
}

const sold = (tonnes: string) => credit('c-1', { amount: amount(tonnes), vintage: '2027' });

async function sceneWithChanges() {
  const scene = await openChangesScene();
  const { read, clock } = scene;
  await read('warehouse', [sold('184.25')]);
  clock.at += MINUTE;
  await read('warehouse', [sold('182.25')]);
  clock.at += MINUTE;
  await read('retirements', [retirement('r-1')], { limit: 10, total: 1 });
  return scene;
}

test('changes prints one line per change below its day, and the sums at the end', async () => {
  const { ask } = await sceneWithChanges();
  const { exitCode, stdout } = await ask('--resource', 'warehouse');
  expect(exitCode).toBe(0);
  expect(stdout.split('\n')).toEqual([
    '2026-05-04 UTC',
    '12:00 (delivery)',
    '  + warehouse Peat bog 2027: not listed → 184.25 t',
    '12:01 (delivery)',
    '  ~ warehouse Peat bog 2027: 184.25 t → 182.25 t',
    '2 changes: 1 added, 1 changed, 0 removed',
    'warehouse ex-post: +184.25 t, -2 t',
    '',
  ]);
  expect((await ask('--resource', 'retirements')).stdout).toContain(
    '12:02 (delivery)\n  + retired 12.5 t Peat bog 2021 for Harbour Ferries on 2026-03-01\n',
  );
});

test('--since and --until take instants and ages, and refuse others', async () => {
  const { ask } = await sceneWithChanges();
  const times = async (...argv: string[]) =>
    JSON.parse((await ask(...argv, '--json')).stdout).rows.map(
      ({ observed_at: at }: { observed_at: string }) => at.slice(11, 16),
    );
  expect(await times('--since', '2026-05-04T12:01:00Z')).toEqual(['12:01', '12:02']);
  expect(await times('--since', '1m')).toEqual(['12:01', '12:02']);
  expect(await times('--after', '1', '--since', '2m', '--until', '2026-05-04T12:01:00Z')).not.toContain(
    '12:02',
  );
  expect(await ask('--since', 'tomorrow')).toMatchObject({ exitCode: 2 });
  expect(await ask('--since', '1m', '--until', '2m')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('or later'),
  });
});

test('--since a day starts at its first instant, --until a day ends at its last, and the period is printed', async () => {
  const { ask, clock, read } = await sceneWithChanges();
  const runAndRead = async (...argv: string[]) => {
    const { exitCode, stdout, stderr } = await ask(...argv);
    return { exitCode, observed: stdout.match(/^\d\d:\d\d|^\d{4}-\d\d-\d\d/gm), stderr };
  };
  const all = ['2026-05-04', '12:00', '12:01', '12:02'];
  clock.at = Date.parse('2026-05-04T12:30:00Z');
  for (const span of ['2026-05-04', '2026-05', '2026']) {
    expect(await runAndRead('--since', span), span).toMatchObject({ exitCode: 0, observed: all });
    expect(await runAndRead('--until', span), span).toMatchObject({
      observed: all,
      stderr: 'Observed up to 2026-05-04T12:30:00.000Z.\n',
    });
    expect(await runAndRead('--since', span, '--until', span), span).toMatchObject({ observed: all });
  }
  clock.at = Date.parse('2026-05-04T23:59:59.999Z');
  await read('warehouse', [sold('181')]);
  clock.at += 1;
  await read('warehouse', [sold('180')]);
  clock.at += MINUTE;
  expect(await runAndRead('--since', 'yesterday', '--until', 'yesterday')).toEqual({
    exitCode: 0,
    observed: [...all, '23:59'],
    stderr: 'Observed from 2026-05-04T00:00:00.000Z to 2026-05-04T23:59:59.999Z.\n',
  });
  expect(await runAndRead('--since', '2026-05-05')).toEqual({
    exitCode: 0,
    observed: ['2026-05-05', '00:00'],
    stderr: 'Observed from 2026-05-05T00:00:00.000Z on.\n',
  });
  for (const ahead of ['2026-05-06', '2026-06', '2027']) {
    const refused = { exitCode: 2, stderr: expect.stringContaining(`${ahead} is in the future`) };
    expect(await runAndRead('--since', ahead)).toMatchObject(refused);
    expect(await runAndRead('--until', ahead)).toMatchObject(refused);
  }
});

test('--json and --csv contain each change with its columns', async () => {
  const { ask } = await sceneWithChanges();
  const { rows: result } = JSON.parse((await ask('--resource', 'warehouse', '--json')).stdout);
  expect(result[1]).toMatchObject({ row_id: 'c-1', changed_columns: ['amount_micro', 'amount_exact'] });
  const csv = (await ask('--resource', 'warehouse', '--csv')).stdout.split('\n');
  expect(csv[0]).toMatch(/^number,observed_at,.*,newest_delivery_id,caveats$/);
  expect(csv).toHaveLength(4);
  for (const format of ['--json', '--csv']) {
    const { stderr } = await ask('--resource', 'members', format);
    expect(stderr, format).toContain('No changes match these filters.');
  }
});

test('--after fails for a number that this mirror has not reached', async () => {
  const { ask } = await sceneWithChanges();
  const newer = await ask('--after', '4000');
  expect(newer).toMatchObject({ exitCode: 3, stdout: '' });
  expect(newer.stderr).toContain('less than 4000');
});
