import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../src/cli/exit.js';
import { FRESHNESS } from '../src/query/freshness/describe-freshness.js';
import { CERTIFICATE_STATES } from '../src/store/contract/states.js';
import { VERDICTS } from '../src/inbox/delivery.js';
import { JOB_STATES, PARTS } from '../src/inbox/job.js';
import { describeSchema } from '../src/store/contract/describe-schema.js';
import { listLinks } from './support/readme.js';
import { formatSchemaDocument } from './support/schema-document.js';
import { listCommandLines, findUnknownPart } from './support/command-lines.js';
import { defineProgram } from './support/commands.js';
import { BROWSER, POSTGRES, SLOW } from '../vitest.config.js';

const ROOT = new URL('../', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, ROOT), 'utf8');
const pages = readdirSync(new URL('docs/', ROOT)).filter(name => name.endsWith('.md'));
const rowsOf = (text: string) => text.split('\n').filter(line => /^\| (?!-)/.test(line));

describe('the program accepts every command line of the documents', () => {
  const program = defineProgram();

  test.each(['README.md', 'CONTRIBUTING.md', ...pages.map(name => `docs/${name}`)])('%s', name => {
    const unknown = listCommandLines(read(name)).flatMap(line => {
      const what = findUnknownPart(program, line);
      return what === null ? [] : [`${what} in: ${line}`];
    });
    expect(unknown).toEqual([]);
  });

  test('an unknown option or subcommand in a document is found', () => {
    expect(
      listCommandLines('`npx carbon-mirror status --json`\n```sh\n$ carbon-mirror jobs list | wc\n```'),
    ).toEqual(['jobs list | wc', 'status --json']);
    expect(findUnknownPart(program, 'status --jsno')).toBe('status --jsno');
    expect(findUnknownPart(program, 'jobs lst')).toBe('jobs lst');
    expect(findUnknownPart(program, 'jobs list --state failed --limit=3')).toBeNull();
    expect(findUnknownPart(program, 'query "select 1 --x" > file --no')).toBeNull();
  });
});

test('links from README reach every document', () => {
  const reached = new Set(['README.md']);
  for (const name of reached) {
    for (const { file } of listLinks(read(name), name)) if (file.endsWith('.md')) reached.add(file);
  }
  for (const name of pages) expect([...reached]).toContain(`docs/${name}`);
});

test('every file and folder that CONTRIBUTING.md names exists', () => {
  const paths = Array.from(
    read('CONTRIBUTING.md').matchAll(/`((?:src|test|tools|migrations|docs)\/[^`<* ]+)`/g),
    ([, path = '']) => path,
  );
  expect(paths.length).toBeGreaterThan(40);
  expect(paths.filter(path => !existsSync(new URL(path, ROOT)))).toEqual([]);
});

test('docs/sql.md explains each term and each state of freshness once, and docs/schema.md names every state', () => {
  const words = rowsOf(read('docs/sql.md'))
    .map(row => row.split('|')[1]?.trim())
    .filter(word => word !== 'word');
  expect(new Set(words).size).toBe(words.length);
  const states = [
    ...FRESHNESS.flatMap(({ state, reason }) => [state, reason ?? state]),
    ...JOB_STATES,
    ...VERDICTS,
    ...CERTIFICATE_STATES,
  ];
  const schema = read('docs/schema.md');
  expect(states.filter(state => !new RegExp(`\\b${state}\\b`).test(schema))).toEqual([]);
  for (const part of PARTS) expect(read('docs/sql.md')).toContain(`\`${part}\``);
  for (const { state, reason } of FRESHNESS) {
    const cell = reason === null ? `\`${state}\`` : `\`${state}\`, \`${reason}\``;
    expect(words, cell).toContain(cell);
  }
});

test('every exit code is explained, and each symptom has a command and a cure', () => {
  const codes = Array.from(read('docs/commands.md').matchAll(/^\| (\d+) \| .+ \|$/gm), ([, code]) => code);
  expect(codes).toEqual(Object.values<number>(EXIT).map(String));
  const [, troubles = ''] = read('docs/deploy.md').split('## Troubleshooting');
  const rows = rowsOf(troubles).map(row => row.split(' | '));
  const symptoms = rows.filter(([, command = '']) => command.includes('carbon-mirror'));
  expect(symptoms.length).toBeGreaterThan(10);
  for (const [symptom, command, cure = ''] of symptoms) {
    expect(command, symptom).toMatch(/^`carbon-mirror [^`]+`$/);
    expect(cure.length, symptom).toBeGreaterThan(20);
  }
});

/** Codes of promises in the titles of tests, each with the files that have it. */
function readProvenCodes(): ReadonlyMap<string, readonly string[]> {
  const codes = new Map<string, string[]>();
  const files = readdirSync(new URL('test/', ROOT), { recursive: true, encoding: 'utf8' });
  for (const file of files.filter(name => name.endsWith('.test.ts') && !name.includes('node_modules'))) {
    for (const [, found = ''] of read(`test/${file}`).matchAll(/['"`]((?:[TP]\d+ )+)/g)) {
      for (const code of found.trim().split(' '))
        codes.set(code, [...(codes.get(code) ?? []), `test/${file}`]);
    }
  }
  return codes;
}

/** A comparison of both engines needs PostgreSQL, which `npm test` does not install. */
const NEEDS_POSTGRES = ['P07'];

test('each promise has a test that `npm test` runs, and each code in a title is a promise', () => {
  const promised = Array.from(
    read('docs/promises.md').matchAll(/^- \*\*([TP]\d+)\*\*/gm),
    ([, code = '']) => code,
  );
  const proven = readProvenCodes();
  const later = [...SLOW, ...POSTGRES, ...BROWSER];
  const isQuick = (file: string) => !later.some(glob => matchesGlob(file, glob));
  expect(promised.length).toBeGreaterThan(50);
  expect(new Set(promised).size).toBe(promised.length);
  expect([...proven.keys()].filter(code => !promised.includes(code))).toEqual([]);
  expect(promised.filter(code => !proven.has(code))).toEqual([]);
  expect(promised.filter(code => !proven.get(code)?.some(isQuick)).toSorted()).toEqual(NEEDS_POSTGRES);
});

test('each choice of the sandbox is marked as documented, seen or assumed, and differences of its other profile are marked', () => {
  const choices = rowsOf(read('docs/never-tried.md')).map(row => row.split(' | '));
  const told = choices.filter(([, sure = '']) => sure !== 'how sure |');
  expect(told.length).toBeGreaterThan(45);
  for (const [choice, sure] of told) expect(sure, choice).toMatch(/^(documented|seen|assumed)\b/);
  expect(told.filter(([choice = '']) => choice.endsWith('★'))).not.toHaveLength(0);
});

test('docs/schema.md matches the comments of the migrations', async () => {
  const text = formatSchemaDocument();
  await expect(text).toMatchFileSnapshot('../docs/schema.md');
  for (const { name, columns } of describeSchema('sqlite')) {
    if (/_(?:history|past)$/.test(name))
      expect(text).toMatch(new RegExp(`^- \`${name}\`: as .+ \`valid_to\``, 'm'));
    else for (const { meaning } of columns) expect(text, name).toContain(` ${meaning}`);
  }
});
