import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { startDemoForFile } from '../support/mirror/demo.js';

const demo = await startDemoForFile();

async function run(argv: readonly string[]) {
  return await runCommand(argv, { env: { DATA_DIR: demo.folder } });
}

async function rows(...argv: string[]) {
  const { exitCode, stdout, stderr } = await run([...argv, '--limit', '0', '--json']);
  expect(exitCode, stderr).toBe(0);
  const { rows: found }: { rows: Record<string, string>[] } = JSON.parse(stdout);
  return found;
}

test.each([
  ['warehouse list --type exPast', 'exPost'],
  ['jobs list --state faild', 'failed'],
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
