import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { requireConfirmation } from '../../src/cli/commands/reservations/confirm.js';
import { explainError } from '../../src/cli/errors/explain-error.js';

async function runConfirm(typed: string, options: { yes?: boolean; terminal?: boolean } = {}) {
  const [stdin, stderr] = [new PassThrough(), new PassThrough()];
  const prompt = text(stderr);
  stdin.end(typed);
  const terminal = options.terminal ?? true;
  const outcome = await requireConfirmation(
    {
      stdin,
      stdout: new PassThrough(),
      stderr,
      env: {},
      now: () => 0,
      terminal: { stdin: terminal, stdout: false, stderr: false },
      columns: 80,
      createInterruptSignal: () => new AbortController().signal,
      secretFiles: [],
      hasEnvFile: false,
      sendToParent: () => undefined,
    },
    'This burns the barn.',
    { yes: options.yes === true },
  ).then(
    () => 'go on',
    (error: unknown) => explainError(error),
  );
  stderr.end();
  return { outcome, prompt: await prompt };
}

test('requireConfirmation asks on a terminal and accepts only y and yes', async () => {
  for (const typed of ['y\n', 'Y\n', 'yes\n', ' yes \nmore']) {
    const { outcome, prompt } = await runConfirm(typed);
    expect(outcome).toBe('go on');
    expect(prompt).toBe('This burns the barn. Continue? [y/N] ');
  }
  for (const typed of ['\n', 'n\n', 'no\n', 'yesterday\n', '', 'yea']) {
    expect((await runConfirm(typed)).outcome).toEqual({ exitCode: 130, lines: ['Nothing was done.'] });
  }
});

test('requireConfirmation without a terminal fails unless --yes is set', async () => {
  const { outcome, prompt } = await runConfirm('y\n', { terminal: false });
  expect(outcome).toEqual({
    exitCode: 2,
    lines: ['This burns the barn.', 'Add --yes to skip the confirmation.'],
  });
  expect(prompt).toBe('');
  expect(await runConfirm('', { terminal: false, yes: true })).toEqual({ outcome: 'go on', prompt: '' });
});
