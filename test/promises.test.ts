import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const FOLDER = new URL('./', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, FOLDER), 'utf8');

interface Row {
  readonly promise: string;
  readonly tests: readonly { readonly file: string; readonly title: string }[];
  readonly commands: readonly { readonly kind: string; readonly name: string }[];
  readonly figure: string;
  readonly commit: string;
}

const ROWS: readonly Row[] = read('../docs/promises.md')
  .split('\n')
  .filter(line => /^\| (?!promise )[^-]/.test(line))
  .map(rowOf);

function rowOf(line: string): Row {
  const [promise = '', tests = '', commands = '', figure = '', commit = ''] = line
    .split('|')
    .slice(1)
    .map(cell => cell.trim());
  return {
    promise,
    tests: tests === '' ? [] : tests.split('<br>').map(citationOf),
    commands: Array.from(commands.matchAll(/`npm run (\w+) -- (\w+)[^`]*`/g), ([, kind = '', name = '']) => ({
      kind,
      name,
    })),
    figure,
    commit,
  };
}

/** It comes out otherwise on another machine. */
const IS_MEASURED = /\d (?:ms|s|MB|kB|bytes|times)\b/;

function citationOf(text: string): { file: string; title: string } {
  const [, file = '', title = text] = /^`([^`]+)` (.+)$/.exec(text) ?? [];
  return { file, title };
}

/** As a title, not anywhere in a file. */
function isTest(file: string, title: string): boolean {
  const path = new URL(`${file}.test.ts`, FOLDER);
  if (!existsSync(path)) return false;
  const source = readFileSync(path, 'utf8');
  return [`'${title}'`, `\`${title}\``, `"${title}"`].some(quoted => source.includes(quoted));
}

test('each test that docs/promises.md names exists', () => {
  const named = ROWS.flatMap(({ tests }) => tests);
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(({ file, title }) => !isTest(file, title))).toEqual([]);
});

test('docs/promises.md knows a test that is not there from one that is', () => {
  expect(isTest('promises', 'each test that docs/promises.md names exists')).toBe(true);
  expect(isTest('promises', ['a test', 'that nobody wrote'].join(' '))).toBe(false);
  expect(isTest('no-such-file', 'each test that docs/promises.md names exists')).toBe(false);
});

test('each command that docs/promises.md names exists, and each figure has a command, a commit and its day, and what was measured its machine', () => {
  for (const { promise, tests, commands, figure, commit } of ROWS) {
    expect(tests.length + commands.length, promise).toBeGreaterThan(0);
    for (const { kind, name } of commands) {
      expect(existsSync(new URL(`${kind}/${name}.js`, FOLDER)), `${kind} ${name}`).toBe(true);
    }
    if (figure === '') expect(commit, promise).toBe('');
    if (figure !== '')
      expect({ promise, commands: commands.length > 0, commit }).toMatchObject({
        commands: true,
        commit: expect.stringMatching(
          IS_MEASURED.test(figure) ? /^[0-9a-f]{7}, \d{4}(-\d\d){2}, \w/ : /^[0-9a-f]{7}, \d{4}(-\d\d){2}$/,
        ),
      });
  }
});

test('each promise of README is one of docs/promises.md', () => {
  const [, list = ''] = /^## What it promises$([^]+?)^## /m.exec(read('../README.md')) ?? [];
  const promises = Array.from(list.matchAll(/^- (.+)\.$/gm), ([, promise]) => promise);
  expect(promises.length).toBeGreaterThan(8);
  const known = [
    ...ROWS.map(({ promise }) => promise),
    'Fast and lean, by ratios against a floor in the same run',
  ];
  expect(promises.filter(promise => !known.includes(promise ?? ''))).toEqual([]);
});
