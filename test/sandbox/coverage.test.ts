import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROUTES } from '../../src/sandbox/http/routes.js';

const FOLDER = 'test/sandbox';
const TITLE = /\btest(?:\.each(?:<[^(]*>)?\((?:[^()]|\([^()]*\))*\))?\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gs;
const PLACEHOLDER = /%[sjdi#]|%%|\$\{[^}]*\}/g;

interface Template {
  readonly pattern: RegExp;
  readonly source: string;
}

function readTemplates(file: string): Template[] {
  const source = readFileSync(join(FOLDER, `${file}.test.ts`), 'utf8');
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

function readCitations(): { file: string; title: string }[] {
  const rows = readFileSync('docs/coverage.md', 'utf8').split('\n');
  const cells = rows
    .filter(row => row.startsWith('| ') && row.includes('`'))
    .map(row => row.split(' | ').at(-1) ?? '');
  return cells.flatMap(cell =>
    cell
      .replace(/ \|$/, '')
      .split('<br>')
      .map(citation => /^`([a-z-]+)` (.+)$/s.exec(citation.trim()))
      .map(match => ({ file: match?.[1] ?? '', title: match?.[2] ?? cell })),
  );
}

test('each test that docs/coverage.md names exists', () => {
  const files = readdirSync(FOLDER).flatMap(name => /^(.+)\.test\.ts$/.exec(name)?.[1] ?? []);
  const templates = new Map(files.map(file => [file, readTemplates(file)]));
  const citations = readCitations();
  expect(citations.length).toBeGreaterThan(100);
  const missing = citations.filter(({ file, title }) => !isTitleOf(templates.get(file) ?? [], title));
  expect(missing).toEqual([]);
});

test('docs/coverage.md knows a test that is not there from one that is', () => {
  const templates = readTemplates('permissions');
  expect(isTitleOf(templates, 'GET /organizations/<id> needs organization_info:read')).toBe(true);
  expect(isTitleOf(templates, 'GET /organizations/<id>/secrets needs organization_info:read')).toBe(false);
  expect(isTitleOf(templates, 'a test that nobody wrote')).toBe(false);
});

test('docs/coverage.md names each route of the registry', () => {
  const routes = ROUTES.map(({ route }) => route);
  expect(routes.length).toBe(32);
  const shapes = (text: string) => text.replaceAll(/:\w+|<\w+>/g, '<>');
  const coverage = shapes(readFileSync('docs/coverage.md', 'utf8'));
  expect(
    routes.filter(
      route => !coverage.includes(`| ${shapes(route)}`) && !coverage.includes(`: ${shapes(route)}`),
    ),
  ).toEqual([]);
});
