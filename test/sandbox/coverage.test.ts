import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { WEBHOOK_EVENTS } from '../../src/registry/object-models.js';
import { ROUTES } from '../../src/sandbox/http/registry-routes.js';

const TESTS = join(import.meta.dirname, '..');
const DOCUMENT = readFileSync(join(import.meta.dirname, 'coverage.md'), 'utf8');

/** Returns the cells of each table row, without the headings. */
function readRows(markdown: string): string[][] {
  const lines = markdown.split('\n');
  const rows = lines.filter((line, at) => line.startsWith('| ') && !lines[at + 1]?.startsWith('|---'));
  return rows.map(row => row.replace(/^\| | \|$/g, '').split(/ \| ?/));
}

/** Returns the cells that name no test file or a missing one. */
function findUncovered(markdown: string): string[] {
  return readRows(markdown).flatMap(([statement = '', ...cells]) =>
    cells
      .filter(cell => !cell.split(', ').every(name => isTestFile(name)))
      .map(cell => `${statement}: ${cell}`),
  );
}

function isTestFile(name: string): boolean {
  const [, file] = /^`([a-z/-]+)`$/.exec(name) ?? [];
  return file !== undefined && existsSync(join(TESTS, `${file}.test.ts`));
}

test('coverage.md names existing test files for each statement of the registry', () => {
  expect(readRows(DOCUMENT).length).toBeGreaterThan(100);
  expect(findUncovered(DOCUMENT)).toEqual([]);
});

test('an empty cell and a missing test file are reported', () => {
  expect(findUncovered('| GET /a | `sandbox/operations` |  | `cli/gone` |')).toEqual([
    'GET /a: ',
    'GET /a: `cli/gone`',
  ]);
});

test('P17 each operation and each event has tests of the sandbox, the client, and the mirror or command line', () => {
  const sections = DOCUMENT.split(/^## /m).filter(text => /^(A\.|B\.|C\.|D\.|Events|Beyond)/.test(text));
  expect(sections).toHaveLength(6);
  const rows = sections.flatMap(readRows);
  expect(rows.length).toBeGreaterThan(38);
  expect(rows.filter(cells => cells.length !== 4)).toEqual([]);
  const events = readRows(sections.find(text => text.startsWith('Events')) ?? '').flatMap(([name = '']) =>
    name.split(', '),
  );
  expect(WEBHOOK_EVENTS.filter(event => !events.includes(event))).toEqual([]);
});

test('coverage.md names each route of the registry', () => {
  const withoutParameters = (text: string) => text.replaceAll(/:\w+|<\w+>/g, '<>');
  const coverage = withoutParameters(DOCUMENT);
  const missing = ROUTES.map(([route]) => withoutParameters(route)).filter(
    route => !coverage.includes(`| ${route}`) && !coverage.includes(`: ${route}`),
  );
  expect(ROUTES.length).toBeGreaterThan(30);
  expect(missing).toEqual([]);
});
