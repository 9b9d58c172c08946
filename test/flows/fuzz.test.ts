import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createBrokenFiles, createBrokenProgram, PROGRAM } from '../support/mutant.js';
import { atLength } from '../support/long.js';

const FUZZ = join(import.meta.dirname, '../torture/fuzz.js');

/** `npm run torture -- fuzz` in short; the same seed each time, so that a red test stays red. */
function fuzz(program: string, ...asked: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [FUZZ, `program=${program}`, 'seed=7', ...asked],
    { encoding: 'utf8', timeout: 170_000 },
  );
  return { status, said: `${stdout}${stderr}` };
}

test.each([
  ['T12 posts', 'posts=400'],
  ['T34 answers', `answers=${atLength(400, 1500)}`],
  ['command lines', `commands=${atLength(100, 200)}`],
])('%s at random bring about no crash, no 500, no stack and no rejection', (_, asked) => {
  const { status, said } = fuzz(PROGRAM, asked);
  expect(status, said).toBe(0);
});

const DELIVERY = ['typeof value === "string" ? toPlainText', 'true ? toPlainText'] as const;
const LIMIT = ['/^\\d{1,15}$/.test(given)', 'given.none.test(given)'] as const;
const SAID = ["none !== ''", "none === ''"] as const;
const OBJECT = ["throw createBadAnswerError(label, 'an object', describeType(parsedValue));", ''] as const;

const BROKEN: readonly (readonly [string, string, () => string])[] = [
  ['T12 a post', 'posts=400', () => createBrokenProgram('receiver-thread.js', ...DELIVERY)],
  ['T34 an answer', 'answers=500', () => createBrokenFiles('registry/json/json-object.js', ...OBJECT)],
  ['a command line', 'commands=100', () => createBrokenFiles('cli/options.js', ...LIMIT)],
  ['an answer that says nothing', 'commands=1000', () => createBrokenFiles('cli/output/output.js', ...SAID)],
];

test.each(BROKEN.slice(0, atLength(3, 4)))(
  '%s at random finds out a program with one line broken',
  (_, asked, create) => {
    const { status, said } = fuzz(create(), asked);
    expect(status, said).toBe(1);
    expect(said).toContain('FAULT');
    expect(said).not.toContain('MODULE_NOT_FOUND');
  },
);
