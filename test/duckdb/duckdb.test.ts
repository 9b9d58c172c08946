import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { startDemoForFile } from '../support/mirror/demo.js';
import { makeFolder } from '../support/folder.js';

const document = readFileSync(new URL('../../docs/sql.md', import.meta.url), 'utf8');
const demo = await startDemoForFile();

async function run(...argv: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runCommand(argv, { env: demo.env });
  expect(exitCode, stderr).toBe(0);
  return stdout;
}

interface DuckDbAnswer {
  readonly rows?: readonly Record<string, unknown>[];
  readonly fault?: string;
}

function askDuckDb(sql: string, cwd: string): DuckDbAnswer {
  const program = join(import.meta.dirname, 'ask.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, sql], { cwd, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout);
}

test('the lines for DuckDB in docs/sql.md sum exported rows and attach a snapshot', async () => {
  const [sum = '', attach = '', ...others] = Array.from(
    document.matchAll(/^duckdb -c "(.*)"$/gm),
    ([, sql = '']) => sql,
  );
  expect(others).toEqual([]);
  const cwd = makeFolder('carbon-mirror-duckdb-');
  const [, command = ''] = /`npx carbon-mirror (.*) > retirements\.csv`/.exec(document) ?? [];
  writeFileSync(join(cwd, 'retirements.csv'), await run(...command.split(' ')));
  const sums = (askDuckDb(sum, cwd).rows ?? []).map(row => [
    row['beneficiary'],
    Math.round(Number(row['sum(amount_exact)']) * 1_000_000),
  ]);
  const expected = await demo.rows(
    'SELECT beneficiary, sum(amount_micro) AS micro FROM retirements GROUP BY beneficiary',
  );
  expect(sums.length).toBeGreaterThan(0);
  expect(new Map(sums.map(([name, micro]) => [name, Number(micro)]))).toEqual(
    new Map(expected.map(({ beneficiary, micro }) => [beneficiary, Number(micro)])),
  );
  await run('snapshot', join(cwd, 'mirror-copy.db'));
  const attached = askDuckDb(attach, cwd);
  // DuckDB reads SQLite by an extension of its own, which cannot be downloaded everywhere.
  if (attached.fault === undefined) expect(attached.rows).toHaveLength(5);
  else expect(attached.fault).toContain('sqlite_scanner');
  rmSync(cwd, { recursive: true });
});
