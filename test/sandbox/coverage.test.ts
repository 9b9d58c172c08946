import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EVENTS } from '../../src/registry/model.js';
import { ROUTES } from '../../src/sandbox/http/routes.js';

const FOLDER = join(import.meta.dirname, '..');
const TITLE = /\btest(?:\.each(?:<[^(]*>)?\((?:[^()]|\([^()]*\))*\))?\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gs;
const PLACEHOLDER = /%[sjdi#]|%%|\$\{[^}]*\}/g;

interface Template {
  readonly pattern: RegExp;
  readonly source: string;
}

/** In `test/sandbox/` where no folder is named; a file beside it is named with its folder, or stands in `test/` itself. */
function isFile(file: string): boolean {
  return existsSync(join(FOLDER, `${pathOf(file)}.test.ts`));
}

function pathOf(file: string): string {
  const own = `sandbox/${file}`;
  return file.includes('/') || !existsSync(join(FOLDER, `${own}.test.ts`)) ? file : own;
}

function readTemplates(file: string): Template[] {
  const source = readFileSync(join(FOLDER, `${pathOf(file)}.test.ts`), 'utf8');
  return [...source.matchAll(TITLE)].map(([, , title = '']) => {
    const literal = title.replaceAll(/\\(.)/g, '$1').split(PLACEHOLDER);
    const escaped = literal.map(part => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return { pattern: new RegExp(`^${escaped.join('(.+)')}$`, 's'), source };
  });
}

/** A title with placeholders counts only for values that stand in its file. */
function isTitleOf(templates: readonly Template[], title: string): boolean {
  return templates.some(({ pattern, source }) => {
    const values = pattern.exec(title)?.slice(1);
    return values?.every(value => source.includes(value.replaceAll('"', '')) || /^\d+$/.test(value)) ?? false;
  });
}

interface Citation {
  readonly row: string;
  readonly file: string;
  readonly title: string;
}

/** The cells of each row but its first; of an empty one a citation of nothing. */
function readCitations(markdown: string): Citation[] {
  return rowsOf(markdown).flatMap(([row = '', ...cells]) =>
    cells.flatMap(cell => cell.split('<br>').map(citation => readCitation(row, citation))),
  );
}

function readCitation(row: string, citation: string): Citation {
  const [, file = '', title = citation] = /^`([a-z/-]+)` (.+)$/s.exec(citation.trim()) ?? [];
  return { row, file, title };
}

/** Without the heads of tables, which a line of dashes follows. */
function rowsOf(markdown: string): string[][] {
  const lines = markdown.split('\n');
  const rows = lines.filter((line, at) => line.startsWith('| ') && !lines[at + 1]?.startsWith('|---'));
  return rows.map(row => row.replace(/^\| | \|$/g, '').split(/ \| ?/));
}

function findMissing(markdown: string): Citation[] {
  const citations = readCitations(markdown);
  const files = new Set(citations.map(({ file }) => file));
  const templates = new Map([...files].filter(isFile).map(file => [file, readTemplates(file)]));
  return citations.filter(({ file, title }) => !isTitleOf(templates.get(file) ?? [], title));
}

const DOCUMENT = readFileSync(join(import.meta.dirname, 'coverage.md'), 'utf8');

test('each test that coverage.md names exists, and no cell is empty', () => {
  expect(readCitations(DOCUMENT).length).toBeGreaterThan(250);
  expect(findMissing(DOCUMENT)).toEqual([]);
});

test('an empty cell and a test that is gone are found', () => {
  const row =
    '| GET /projects | `permissions` GET /organizations/<id> needs organization_info:read |  | `cli/gone` a test |';
  expect(findMissing(row)).toMatchObject([
    { row: 'GET /projects', file: '', title: '' },
    { row: 'GET /projects', file: 'cli/gone', title: 'a test' },
  ]);
});

test('each operation and each event has three columns: sandbox, client, mirror and command line', () => {
  const sections = DOCUMENT.split(/^## /m).filter(text => /^(A\.|B\.|C\.|D\.|Events|Beyond)/.test(text));
  expect(sections).toHaveLength(6);
  const rows = sections.flatMap(rowsOf);
  expect(rows.length).toBeGreaterThan(38);
  expect(rows.filter(cells => cells.length !== 4)).toEqual([]);
  const events = rowsOf(sections.find(text => text.startsWith('Events')) ?? '').flatMap(([name = '']) =>
    name.split(', '),
  );
  expect(EVENTS.filter(event => !events.includes(event))).toEqual([]);
});

test('coverage.md knows a test that is not there from one that is', () => {
  const templates = readTemplates('permissions');
  expect(isTitleOf(templates, 'GET /organizations/<id> needs organization_info:read')).toBe(true);
  expect(isTitleOf(templates, 'GET /organizations/<id>/secrets needs organization_info:read')).toBe(false);
  expect(isTitleOf(templates, 'a test that nobody wrote')).toBe(false);
});

test('coverage.md names each route of the registry', () => {
  const routes = ROUTES.map(([route]) => route);
  expect(routes.length).toBe(32);
  const shapes = (text: string) => text.replaceAll(/:\w+|<\w+>/g, '<>');
  const coverage = shapes(DOCUMENT);
  expect(
    routes.filter(
      route => !coverage.includes(`| ${shapes(route)}`) && !coverage.includes(`: ${shapes(route)}`),
    ),
  ).toEqual([]);
});
