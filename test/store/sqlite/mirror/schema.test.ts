import { expect, test } from 'vitest';
import { listMigrations } from '../../../../src/store/migrations.js';
import { temporaryMirror } from '../../../support/mirror/open.js';

const SQL = listMigrations('sqlite', 'mirror')
  .map(({ sql }) => sql)
  .join('\n');

test('every table, view and column has a comment', () => {
  const blocks = SQL.matchAll(/((?:^-- .*\n)*)^CREATE (?:TABLE|VIEW) (\w+) \(\n([\s\S]*?)\n\)/gm);
  const seen = [...blocks].map(([, comment, name, body]) => {
    expect(comment, `words above ${name}`).not.toBe('');
    const columns = (body ?? '').split('\n').filter(line => /^ {2}[a-z]/.test(line));
    for (const line of columns) expect(line, `a column of ${name}`).toMatch(/,? -- \S.*$/);
    return name;
  });
  const there = temporaryMirror()
    .prepare<[], string>(
      "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'",
    )
    .pluck()
    .all();
  expect(new Set([...seen, 'schema_migrations'])).toEqual(new Set(there));
});

test('every view can be read in an empty database', () => {
  const db = temporaryMirror();
  const views = db.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'view'").pluck().all();
  const rowsOf = (view: string) => db.prepare<[], { rows?: number }>(`SELECT * FROM ${view}`).all();
  const counting = 'findings';
  expect(views).toContain(counting);
  for (const view of views) if (view !== counting) expect(rowsOf(view), view).toEqual([]);
  expect(rowsOf(counting).map(({ rows }) => rows)).toEqual(Array.from({ length: 7 }, () => 0));
});

test('every table is strict', () => {
  const loose = temporaryMirror()
    .prepare<[], string>(
      "SELECT name FROM pragma_table_list WHERE type = 'table' AND NOT strict AND name NOT LIKE 'sqlite_%'",
    )
    .pluck()
    .all();
  expect(loose).toEqual([]);
});

test('no view uses a function or modifier that SQLite 3.38 lacks, which would silently give null', () => {
  const views = temporaryMirror()
    .prepare<[], { name: string; sql: string }>("SELECT name, sql FROM sqlite_master WHERE type = 'view'")
    .all();
  for (const { name, sql } of views) expect(sql, name).not.toMatch(/subsec|timediff|octet_length|->>/);
});

test('lists of retirements and credits are read from an index in their order, and months from an index alone', () => {
  const mirror = temporaryMirror();
  const looks = (sql: string) =>
    mirror
      .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => detail)
      .filter(detail => /\b(retirements|warehouse_credits)_|ORDER BY/.test(detail));
  const byMonth = 'SCAN retirements USING COVERING INDEX retirements_by_created_at';
  expect(looks('SELECT month, amount_micro FROM retirements_by_month')).toEqual([byMonth]);
  const newest = 'SELECT * FROM retirements ORDER BY created_at DESC NULLS LAST, version DESC LIMIT 50';
  expect(looks(newest)).toEqual(['SCAN retirements USING INDEX retirements_newest']);
  const were = newest.replace('retirements', 'retirements_history');
  expect(looks(were).slice(1)).toEqual(looks(newest));
  const largest = 'SELECT * FROM warehouse_credits ORDER BY amount_micro DESC NULLS LAST, version DESC';
  expect(looks(largest)).toEqual(['SCAN warehouse_credits USING INDEX warehouse_credits_largest']);
});
