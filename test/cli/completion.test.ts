import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { listCommands } from '../support/commands.js';

async function printed(...argv: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runCommand(argv);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout;
}

/** What bash itself would offer after these words. */
function offered(script: string, ...words: string[]): string[] {
  const line = words.map(word => `'${word}'`).join(' ');
  const ask = `${script}\nCOMP_WORDS=(carbon-mirror ${line}); COMP_CWORD=${words.length}; _carbon_mirror; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', ask], { encoding: 'utf8' })
    .split('\n')
    .filter(word => word !== '');
}

test('bash completes commands, their options, and the words that an option or argument takes', async () => {
  const script = await printed('completion', 'bash');
  expect(offered(script, 'ret')).toEqual(['retirements']);
  expect(offered(script, 'retirements', '')).toEqual(expect.arrayContaining(['list', 'show', '--help']));
  expect(offered(script, 'retirements', 'list', '--ben')).toEqual(['--beneficiary']);
  expect(offered(script, 'retirements', 'list', '--wi')).toEqual(['--wide']);
  expect(offered(script, 'reservations', 'list', '--state', 'out')).toEqual(['outstanding']);
  expect(offered(script, 'sandbox', 'apps', 'reg')).toEqual(['register']);
  expect(offered(script, 'trigger', 'sus')).toEqual(['suspended']);
  expect(offered(script, 'nothing', 'list', '--ben')).toEqual([]);
});

test.each(['bash', 'zsh', 'fish'])('%s knows every command and every option', async shell => {
  const script = await printed('completion', shell);
  for (const { name, command } of await listCommands()) {
    expect(script).toContain(name);
    for (const { long } of command.options) expect(script).toContain(long?.replace(/^--/, ''));
  }
  expect(await runCommand(['completion', 'cmd'])).toMatchObject({ exitCode: 2, stdout: '' });
});

test('the manual page names every command with its options, and no line of a text is a request', async () => {
  const page = await printed('man');
  for (const { name, command } of await listCommands()) {
    expect(page).toContain(`.SS ${name.replaceAll('-', '\\-')}`);
    for (const { flags } of command.options) expect(page).toContain(flags.replaceAll('-', '\\-'));
  }
  for (const line of page.split('\n')) expect(line).toMatch(/^(\.(TH|SH|SS|TP|B)\b|[^.']|$)/);
});
