import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createBrokenFiles, createBrokenProgram, PROGRAM } from '../support/mutant.js';
import { chooseLength } from '../support/long.js';

const FUZZ = join(import.meta.dirname, '../torture/fuzz.js');

/** Runs a short `npm run torture -- fuzz`, always with the same seed, so that a failing test keeps failing. */
function fuzz(program: string, ...argv: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [FUZZ, `program=${program}`, 'seed=7', ...argv],
    { encoding: 'utf8', timeout: 170_000 },
  );
  return { status, output: `${stdout}${stderr}` };
}

test.each([
  ['T12 random posts', 'posts=400'],
  ['T34 random responses', `answers=${chooseLength(400, 1500)}`],
  ['random command lines', `commands=${chooseLength(100, 200)}`],
])('%s cause no crash, no 500, no stack trace and no unhandled rejection', (_, argument) => {
  const { status, output } = fuzz(PROGRAM, argument);
  expect(status, output).toBe(0);
});

const DELIVERY = ['typeof value === "string" ? toPlainText', 'true ? toPlainText'] as const;
const LIMIT = ['/^\\d{1,15}$/.test(text)', 'text.none.test(text)'] as const;
const EMPTY_MESSAGE = ["emptyMessage !== ''", "emptyMessage === ''"] as const;
const OBJECT = ["throw createBadAnswerError(label, 'an object', describeType(parsedValue));", ''] as const;

const BROKEN: readonly (readonly [string, string, () => string])[] = [
  ['T12 a random post', 'posts=400', () => createBrokenProgram('receiver-thread.js', ...DELIVERY)],
  [
    'T34 a random response',
    'answers=500',
    () => createBrokenFiles('registry/json/json-object.js', ...OBJECT),
  ],
  ['a random command line', 'commands=100', () => createBrokenFiles('cli/options.js', ...LIMIT)],
  [
    'a random command that finds nothing',
    'commands=1000',
    () => createBrokenFiles('cli/output/output-formats.js', ...EMPTY_MESSAGE),
  ],
];

test.each(BROKEN.slice(0, chooseLength(3, 4)))(
  '%s detects a program with one broken line',
  (_, argument, create) => {
    const { status, output } = fuzz(create(), argument);
    expect(status, output).toBe(1);
    expect(output).toContain('FAULT');
    expect(output).not.toContain('MODULE_NOT_FOUND');
  },
);
