import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { writeFigures } from './bench/parts/written.js';
import { temporaryFolder } from './support/inbox.js';

const rowsOf = (text: string) => text.split('\n').filter(line => /^\| (?!benchmark|-)/.test(line));

test('a figure that is measured anew stands in place of the one before, beside all others', () => {
  const file = join(temporaryFolder(), 'figures.md');
  const page = pathToFileURL(file);
  const figure = (name: string, value: number) => ({
    bench: 'sync',
    name,
    value,
    unit: 'times',
    words: 'at most 3',
    holds: value < 3,
  });
  writeFigures([figure('one', 1), figure('other', 4)], 'abcdef0, 2026-01-31, a machine', page);
  writeFigures([figure('one', 1.5)], 'abcdef1, 2026-02-28, a machine', page);
  expect(rowsOf(readFileSync(file, 'utf8'))).toEqual([
    '| sync | one | 1.50 times | at most 3 | abcdef1, 2026-02-28, a machine |',
    '| sync | other | 4.00 times | at most 3: missed | abcdef0, 2026-01-31, a machine |',
  ]);
});

test('each figure of docs/figures.md has what was demanded, a commit, a day and a machine', () => {
  const rows = rowsOf(readFileSync(new URL('../docs/figures.md', import.meta.url), 'utf8'));
  for (const row of rows) {
    const cells = row.slice(2, -2).split(' | ');
    expect(cells, row).toHaveLength(5);
    expect(cells[3], row).toMatch(/^(at most|at least|under) \d/);
    expect(cells[4], row).toMatch(/^[0-9a-f]{7}, \d{4}-\d\d-\d\d, \w/);
  }
});
