import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { getDemoFolder } from '../src/cli/mirror-location.js';
import { runCommand } from './support/command.js';
import { startDemoForFile } from './support/mirror/demo.js';
import { copyMirror, type MirrorCopy } from './support/mirror-copy.js';
import type { Tables } from './support/tables.js';
import { listCodeBlocks } from './support/readme.js';
import { issueCredit } from './support/sandbox.js';
import { makeFolder } from './support/folder.js';

type Row = Record<string, string | number | null>;

const document = readFileSync(new URL('../docs/sql.md', import.meta.url), 'utf8');
const queries = listCodeBlocks(document, 'sql');

const demo = await startDemoForFile();
const [owner = ''] = demo.organizationIds;
const credit = issueCredit(demo.sandbox, owner, { amount: 7 });
await run(
  'reservations',
  'create',
  '--organization',
  owner,
  '--credit-id',
  credit,
  '--amount',
  '2.5',
  '--yes',
);
await run('sync', '--full');

async function run(...argv: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runCommand(argv, { env: demo.env });
  expect(exitCode, stderr).toBe(0);
  return stdout;
}

async function readRows(from: Tables, sql: string): Promise<Row[]> {
  const rows: Row[] = JSON.parse(JSON.stringify(await from.rows(sql)));
  return rows;
}

function queryAbout(words: string): string {
  const found = queries.filter(sql => sql.includes(words));
  expect(found, words).toHaveLength(1);
  return found[0] ?? '';
}

async function answer(sql: string, folder = demo.folder): Promise<Row[]> {
  const env = { DATA_DIR: folder };
  const { exitCode, stdout, stderr } = await runCommand(['query', sql, '--json'], { env });
  expect({ exitCode, stderr }, sql).toEqual({ exitCode: 0, stderr: '' });
  const rows: Row[] = JSON.parse(stdout);
  return rows;
}

/** Every query of the document, by words of it, and what its answer must be. */
const CHECKS: Record<string, (sql: string) => Promise<void>> = {
  'from available_credits': async sql => {
    const rows = await answer(sql);
    const held = await readRows(
      demo,
      'SELECT type, sum(amount_micro) AS micro FROM warehouse_credits GROUP BY type',
    );
    const sumOf = (column: string) =>
      rows.reduce((sum, row) => sum + Math.round(Number(row[column]) * 1_000_000), 0);
    expect(held).toHaveLength(2);
    expect(held).toContainEqual({ type: 'exPost', micro: sumOf('amount_ex_post') });
    expect(held).toContainEqual({ type: 'exAnte', micro: sumOf('amount_ex_ante') });
    expect(rows.every(row => Number(row['age_seconds']) >= 0 && row['project_name'] !== null)).toBe(true);
  },
  'from last_known_credits': async sql => {
    const { folder, ...copy }: MirrorCopy = copyMirror(demo.folder);
    await copy.change(
      `UPDATE resource_states SET outcome = 'failed', failing_since = as_of, webhook_failed = 1`,
    );
    const [held] = await readRows(demo, 'SELECT count(*) AS n FROM warehouse_credits');
    const rows = await answer(sql, folder);
    expect(rows).toHaveLength(Number(held?.['n']));
    for (const row of rows) expect(row).toMatchObject({ freshness: 'stale', reason: 'read_failed' });
  },
  'from retirements_history': async sql => {
    const year = `FROM retirements WHERE created_at LIKE '2024-%'`;
    const [retired] = await readRows(demo, `SELECT sum(amount_micro) AS micro ${year}`);
    const of2024 = sql.replace("'2027-", "'2025-").replace("'2026-01-01", "'2024-01-01");
    const added = async (date: string) => {
      const rows = await answer(of2024.replaceAll('2026-11-30', date));
      return rows.reduce((sum, row) => sum + Number(row['amount_micro']), 0);
    };
    expect(Number(retired?.['micro'])).toBeGreaterThan(0);
    expect(await added('2999-12-31')).toBe(retired?.['micro']);
    const before = await run('query', '--json', of2024.replaceAll('2026-11-30', '2000-12-31'));
    expect(JSON.parse(before)).toEqual([]);
  },
  'from reservations_now': async sql => {
    const rows = await answer(sql);
    expect(rows).toContainEqual(expect.objectContaining({ amount: 2.5 }));
    for (const row of rows) {
      expect(row['minutes_left']).toBeGreaterThanOrEqual(0);
      expect(row['minutes_left']).toBeLessThanOrEqual(10);
    }
  },
  'from retirements_by_beneficiary': async sql => {
    const rows = await answer(sql);
    const sums = await readRows(
      demo,
      `SELECT beneficiary, sum(amount_micro) AS micro, count(*) AS rows FROM retirements
      GROUP BY 1 ORDER BY micro DESC LIMIT 10`,
    );
    expect(rows.map(row => Math.round(Number(row['amount']) * 1_000_000))).toEqual(
      sums.map(row => row['micro']),
    );
    expect(rows.every(row => row['rows_without_amount'] === 0)).toBe(true);
  },
  'from retirements_by_month': async sql => {
    const sums = await readRows(
      demo,
      `SELECT full_name, substr(r.created_at, 1, 7) AS month, sum(amount_micro) AS amount_micro, count(*) AS rows
      FROM retirements AS r JOIN organizations AS o ON o.id = r.organization_id GROUP BY o.id, month
      ORDER BY month DESC, amount_micro DESC, o.id LIMIT 20`,
    );
    const rows = await answer(sql);
    expect(rows).toMatchObject(sums.map(each => ({ ...each, rows_without_amount: 0 })));
    expect(rows).toHaveLength(20);
  },
  'from freshness': async sql => {
    const [counted] = await readRows(demo, 'SELECT count(*) AS n FROM resource_states');
    const rows = await answer(sql);
    expect(rows).toHaveLength(Number(counted?.['n']));
    expect(new Set(rows.map(row => row['state']))).toEqual(new Set(['fresh']));
  },
  'from certificates_missing': async sql => {
    const [unclaimed] = await readRows(
      demo,
      'SELECT count(*) AS n FROM retirements WHERE beneficiary IS NULL',
    );
    const rows = await answer(sql);
    expect(rows).toHaveLength(Math.min(20, Number(unclaimed?.['n'])));
    expect(rows.every(row => row['state'] === 'unavailable')).toBe(true);
  },
  'from drift': async sql => {
    const { folder, ...copy }: MirrorCopy = copyMirror(demo.folder);
    await copy.change('UPDATE syncs SET drift = 3 WHERE id = (SELECT max(id) FROM syncs)');
    expect(await answer(sql, folder)).toMatchObject([{ drift: 3 }]);
  },
};

describe('on a mirror', () => {
  test('P09 every query of docs/sql.md is checked', () => {
    expect(queries).toHaveLength(Object.keys(CHECKS).length);
  });

  for (const [words, check] of Object.entries(CHECKS)) {
    test(`the query "${words}" returns the expected rows`, async () => await check(queryAbout(words)));
  }
});

test('the line for python3 in docs/sql.md reads a copy, if python3 is installed', async () => {
  const [, program = ''] = /^python3 -c "(import sqlite3; .*)"$/m.exec(document) ?? [];
  expect(program).toContain('freshness');
  const { folder } = copyMirror(demo.folder);
  copyFileSync(join(folder, 'mirror.db'), join(folder, 'mirror-copy.db'));
  const { error, stdout, stderr } = spawnSync('python3', ['-c', program], { cwd: folder, encoding: 'utf8' });
  if (error !== undefined) return;
  expect(stderr).toBe('');
  expect(stdout.match(/'retirements'/g)).toHaveLength(demo.organizationIds.length);
});

test('the line for sqlite3 in docs/sql.md works in the folder of the demo', async () => {
  const [, file = '', sql = ''] = /^sqlite3 -readonly (\S+) "(.*)"$/m.exec(document) ?? [];
  expect(file).toBe(join(getDemoFolder({}), 'mirror.db'));
  const { folder } = copyMirror(demo.folder);
  const cwd = makeFolder('carbon-mirror-readme-');
  mkdirSync(join(cwd, dirname(file)), { recursive: true });
  copyFileSync(join(folder, 'mirror.db'), join(cwd, file));
  const { error, stdout, stderr } = spawnSync('sqlite3', ['-readonly', file, sql], { cwd, encoding: 'utf8' });
  rmSync(cwd, { recursive: true });
  const isThere = error === undefined;
  const expected = (await readRows(demo, sql)).length;
  expect(expected).toBeGreaterThan(0);
  expect({ rows: isThere ? stdout.trimEnd().split('\n').length : expected, stderr: stderr ?? '' }).toEqual({
    rows: expected,
    stderr: '',
  });
});
