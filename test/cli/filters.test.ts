import { expect, test } from 'vitest';
import { ALL_LISTS } from '../../src/query/lists/lists.js';
import { runCommand } from '../support/command.js';
import { startDemoForFile } from '../support/mirror/demo.js';
import { copyMirror } from '../support/mirror-copy.js';

const demo = await startDemoForFile();

async function run(argv: readonly string[], folder = demo.folder) {
  return await runCommand(argv, { env: { DATA_DIR: folder } });
}

async function rows(...argv: string[]) {
  const { exitCode, stdout, stderr } = await run([...argv, '--limit', '0', '--json']);
  expect(exitCode, stderr).toBe(0);
  const { rows: found }: { rows: Record<string, string>[] } = JSON.parse(stdout);
  return found;
}

test.each([
  ['warehouse list --type', 'exPost', ['ex-post', 'EXPOST', 'ex_post', 'Ex Post']],
  ['inventory list --type', 'exPost', ['ex-post', 'expost']],
  ['syncs list --trigger', 'delivery', ['Delivery']],
  ['syncs list --resource', 'inventory_requests', ['inventory-requests', 'Inventory Requests']],
  ['jobs list --state', 'done', ['DONE']],
  ['jobs list --kind', 'installation', ['Installation']],
  ['deliveries list --event', 'installed', ['INSTALLED']],
  ['installations list --state', 'active', ['Active']],
])('%s accepts "%s" in every spelling', async (command, word, spellings) => {
  const exact = await rows(...command.split(' '), word);
  expect(exact.length).toBeGreaterThan(0);
  for (const spelling of spellings)
    expect(await rows(...command.split(' '), spelling), spelling).toEqual(exact);
});

test.each([
  ['warehouse list --type exPast', 'exPost'],
  ['inventory list --vintage 21', '2021'],
  ['retirements list --vintage 21', '2021'],
  ['deliveries list --event suspnded', 'suspended'],
  ['syncs list --trigger shedule', 'schedule'],
  ['syncs list --state complet', 'complete'],
  ['syncs list --resource retirement', 'retirements'],
  ['jobs list --trigger shedule', 'schedule'],
  ['jobs list --kind instalation', 'installation'],
  ['jobs list --state faild', 'failed'],
  ['reservations list --state outstandin', 'outstanding'],
  ['certificates list --state storred', 'stored'],
  ['installations list --state activ', 'active'],
  ['inventory-requests list --state pendin', 'Pending'],
  ['changes --resource retirement', 'retirements'],
  ['available --type exPast', 'exPost'],
  ['available --vintage 21', '2021'],
])('%s exits with 2 and suggests similar words', async (command, near) => {
  for (const form of [[], ['--json']]) {
    const { exitCode, stdout, stderr } = await run([...command.split(' '), ...form]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^Expected .*, got "[^"]+"\./);
    expect(stderr).toMatch(new RegExp(`Did you mean .*\\b${near}\\b`));
  }
});

test('a known word without rows and a word that only the database contains are both accepted', async () => {
  const mirror = copyMirror(demo.folder);
  await mirror.change("UPDATE inbox.deliveries SET event = 'creditSplit' WHERE id = 1");
  await mirror.change(
    "UPDATE warehouse_credits SET type = 'ex-Other', vintage = '2016-17' WHERE version = (SELECT min(version) FROM warehouse_credits)",
  );
  const found = async (command: string) => {
    const { exitCode, stdout } = await run([...command.split(' '), '--json'], mirror.folder);
    return { exitCode, rows: JSON.parse(stdout).rows.length };
  };
  expect(await found('deliveries list --event suspended')).toEqual({ exitCode: 0, rows: 0 });
  expect(await found('syncs list --trigger person')).toEqual({ exitCode: 0, rows: 0 });
  expect(await found('inventory-requests list --state rejected')).toMatchObject({ exitCode: 0 });
  expect(await found('deliveries list --event creditSplit')).toEqual({ exitCode: 0, rows: 1 });
  expect(await found('deliveries list --event credit-split')).toEqual({ exitCode: 0, rows: 1 });
  expect(await found('warehouse list --type ex-other')).toEqual({ exitCode: 0, rows: 1 });
  expect(await found('warehouse list --vintage 2016-17')).toEqual({ exitCode: 0, rows: 1 });
  const wrong = await run(['deliveries', 'list', '--event', 'creditSplt'], mirror.folder);
  expect(wrong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Did you mean creditSplit') });
});

test('free text without a match exits with 0 and suggests similar values on stderr', async () => {
  const [retirement = {}] = await rows('retirements', 'list');
  const beneficiary = retirement['beneficiary'] ?? '';
  const mistyped = beneficiary.replace(/(.{4})./, '$1');
  for (const form of [[], ['--json'], ['--csv']]) {
    const { exitCode, stdout, stderr } = await run([
      'retirements',
      'list',
      '--beneficiary',
      mistyped,
      ...form,
    ]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`No retirement has "${mistyped}" in its beneficiary.`);
    expect(stderr).toContain(`"${beneficiary}"`);
    expect(stdout.replace(/"caveats".*/, '')).not.toContain(mistyped);
  }
  const none = await run(['warehouse', 'list', '--vintage', '1066']);
  expect(none).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('No credit has the vintage "1066".'),
  });
  const both = await run(['warehouse', 'list', '--vintage', '1066', '--project', 'No such thing']);
  expect(both.stderr).toContain('No credit has "No such thing" in its project.');
});

test('--project finds a project by its id, the start of its id or a part of its name, in lists and in available', async () => {
  const [known] = await demo.rows(
    'SELECT project_id AS id, project_name AS name FROM warehouse_credits WHERE project_id IS NOT NULL ORDER BY 1 LIMIT 1',
  );
  const [id, name] = [String(known?.['id']), String(known?.['name'])];
  for (const command of ['warehouse', 'inventory', 'retirements']) {
    const table = { warehouse: 'warehouse_credits', inventory: 'inventory_credits' }[command] ?? command;
    const [counted] = await demo.rows(`SELECT count(*) AS n FROM ${table} WHERE project_id = '${id}'`);
    const expected = await rows(command, 'list', '--project', name);
    expect(expected.length, command).toBe(Number(counted?.['n']));
    for (const text of [id, id.slice(0, 8), `${id.slice(0, 8)}…`])
      expect(await rows(command, 'list', '--project', text), `${command} ${text}`).toEqual(expected);
    expect(await rows(command, 'list', '--project', name.toUpperCase())).toEqual(expected);
  }
  const { stdout } = await run(['available', '--json', '--project', id.slice(0, 8)]);
  expect(JSON.parse(stdout).rows.length).toBeGreaterThan(0);
});

test('an id is accepted as tables print it, shortened and with an ellipsis', async () => {
  const [id = ''] = demo.organizationIds;
  const short = `${id.slice(0, 8)}…`;
  const expected = await rows('retirements', 'list', '--organization', id);
  expect(await rows('retirements', 'list', '--organization', short)).toEqual(expected);
});

test('every list option that takes words refuses an unknown word', async () => {
  const walked: string[] = [];
  for (const { name, filters } of ALL_LISTS) {
    if (name === 'rejected-webhooks') continue;
    for (const { option, kind: fits } of Object.values(filters)) {
      if (option === null || !['choice', 'word'].includes(fits)) continue;
      const { exitCode, stdout, stderr } = await run([name, 'list', `--${option}`, 'qqqq']);
      const isEmpty = fits === 'word' && exitCode === 0;
      expect(
        { exitCode: isEmpty ? 2 : exitCode, stdout: isEmpty ? '' : stdout },
        `${name} --${option}`,
      ).toEqual({
        exitCode: 2,
        stdout: '',
      });
      expect(stderr).not.toBe('');
      walked.push(`${name} --${option}`);
    }
  }
  expect(walked.length).toBeGreaterThan(12);
});
