import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../src/cli/exit.js';
import { CERTIFICATE_STATES, FRESHNESS_STATES } from '../src/engines/contract/states.js';
import { VERDICTS } from '../src/inbox/delivery.js';
import { JOB_STATES, LANES } from '../src/inbox/job.js';
import { commandLinesIn, findUnknown } from './support/command-lines.js';
import { defineProgram } from './support/commands.js';

const ROOT = new URL('../', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, ROOT), 'utf8');
const pages = readdirSync(new URL('docs/', ROOT)).filter(name => name.endsWith('.md'));
const rowsOf = (text: string) => text.split('\n').filter(line => /^\| (?!-)/.test(line));

describe('every command line of README and the documents is one that the program takes', () => {
  const program = defineProgram();

  test.each(['README.md', ...pages.map(name => `docs/${name}`)])('%s', name => {
    const unknown = commandLinesIn(read(name)).flatMap(line => {
      const what = findUnknown(program, line);
      return what === null ? [] : [`${what} in: ${line}`];
    });
    expect(unknown).toEqual([]);
  });

  test('and what it would not take is known', () => {
    expect(
      commandLinesIn('`npx carbon-mirror status --json`\n```sh\n$ carbon-mirror jobs list | wc\n```'),
    ).toEqual(['jobs list | wc', 'status --json']);
    expect(findUnknown(program, 'status --jsno')).toBe('status --jsno');
    expect(findUnknown(program, 'jobs lst')).toBe('jobs lst');
    expect(findUnknown(program, 'jobs list --state buried --limit=3')).toBeNull();
    expect(findUnknown(program, 'query "select 1 --x" > file --no')).toBeNull();
  });
});

test('README is one that a person reads to the end, and leads to every document', () => {
  const readme = read('README.md');
  expect(readme.split('\n').length).toBeLessThan(200);
  for (const name of pages) expect(readme, name).toContain(`](docs/${name}`);
});

test('the glossary has every word that a table of ours says', () => {
  const words = rowsOf(read('docs/glossary.md'))
    .map(row => row.split('|')[1]?.trim())
    .filter(word => word !== 'word');
  const said = [
    ...FRESHNESS_STATES,
    ...JOB_STATES,
    ...VERDICTS,
    ...CERTIFICATE_STATES,
    'lane',
    'drift',
    'coverage',
  ];
  expect(said.filter(word => !words.includes(word))).toEqual([]);
  expect(new Set(words).size).toBe(words.length);
  for (const lane of LANES) expect(read('docs/glossary.md')).toContain(`\`${lane}\``);
});

test('troubleshooting has a cure for each symptom, and every exit code', () => {
  const rows = rowsOf(read('docs/troubleshooting.md')).map(row => row.split(' | '));
  const codes = rows.map(([code = '']) => /^\| (\d+)$/.exec(code)?.[1]).filter(code => code !== undefined);
  expect(codes).toEqual(Object.values<number>(EXIT).map(String));
  const symptoms = rows.filter(([, command = '']) => command.includes('carbon-mirror'));
  expect(symptoms.length).toBeGreaterThan(20);
  for (const [symptom, command, cure = ''] of symptoms) {
    expect(command, symptom).toMatch(/^`carbon-mirror [^`]+`$/);
    expect(cure.length, symptom).toBeGreaterThan(20);
  }
});

test('docs/upgrade.md explains every migration, and none that is not there', () => {
  const files = Array.from(read('docs/upgrade.md').matchAll(/^\| `(.+\.sql)` \|/gm), ([, file = '']) => file);
  const there = readdirSync(new URL('migrations/', ROOT), { recursive: true, encoding: 'utf8' });
  expect(files.toSorted()).toEqual(there.filter(file => file.endsWith('.sql')).toSorted());
});
