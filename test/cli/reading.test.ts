import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { startDemoForFile } from '../support/mirror/demo.js';
import { openTablesOfFile } from '../support/tables.js';

const demo = await startDemoForFile();

/** The settings of a person who only reads: DATA_DIR is enough. */
async function run(...argv: string[]) {
  return await runCommand(argv, { env: { DATA_DIR: demo.folder } });
}

async function json(...argv: string[]) {
  const { exitCode, stdout } = await run(...argv, '--json');
  expect(exitCode).toBe(0);
  return JSON.parse(stdout);
}

/** Returns the rows of a list. */
async function listRows(noun: string, ...argv: string[]) {
  return (await json(noun, 'list', ...argv)).rows;
}

describe('status', () => {
  test('shows each organization, its rows, certificates and freshness', async () => {
    const { exitCode, stdout } = await run('status');
    expect(exitCode).toBe(0);
    const name = String(
      (await demo.rows('SELECT full_name FROM organizations ORDER BY full_name LIMIT 1'))[0]?.['full_name'],
    );
    expect(stdout).toContain(name);
    expect(stdout).toMatch(/active.*fresh/);
    expect(stdout).toContain('0 failed');
    const status = await json('status');
    expect(status.organizations).toHaveLength(demo.organizationIds.length);
    const retirements = status.organizations.flatMap(
      (each: { resources: { resource: string; rows: number }[] }) =>
        each.resources.filter(({ resource }) => resource === 'retirements').map(({ rows }) => rows),
    );
    expect(retirements.reduce((sum: number, rows: number) => sum + rows, 0)).toBe(150);
  });

  test('says without a mirror where it was expected and how to create one, and creates nothing', async () => {
    const nowhere = join(demo.folder, 'nowhere');
    const { exitCode, stdout, stderr } = await runCommand(['status'], { env: { DATA_DIR: nowhere } });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(`There is no mirror in ${nowhere}`);
    expect(existsSync(nowhere)).toBe(false);
    expect(stderr).toContain('carbon-mirror up');
  });
});

describe('query', () => {
  test('answers one statement as a table, JSON or CSV, over both databases', async () => {
    const counted = await run('query', 'select count(*) from retirements');
    expect(counted).toMatchObject({ exitCode: 0, stdout: 'count(*)\n     150\n' });
    expect(await json('query', 'select count(*) as n from inbox.deliveries')).toEqual([
      { n: demo.organizationIds.length },
    ]);
    const csv = await run('query', "select '=1+1' as evil, 2 as two", '--csv');
    expect(csv.stdout).toBe("evil,two\n'=1+1,2\n");
    expect(await run('query', '--csv', '--json', 'select 1')).toMatchObject({ exitCode: 2, stdout: '' });
  });

  test('takes a statement from the command line or standard input and refuses an empty one', async () => {
    const env = { DATA_DIR: demo.folder };
    const sql = '-- how many\nselect count(*) as n from retirements\n';
    const answer = { exitCode: 0, stdout: '[\n{"n":150}\n]\n' };
    expect(await runCommand(['query', '-', '--json'], { env, input: sql })).toMatchObject(answer);
    const { exitCode, stdout, stderr } = await run('query');
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).not.toMatch(/^ +at /m);
  });

  test('explains an error in the SQL with exit code 2', async () => {
    expect((await run('query', '(select 1)')).stderr).toContain('SQLite does not allow brackets');
    const { exitCode, stdout, stderr } = await run('query', 'select * from retirement');
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('no such table: retirement');
    expect(stderr).toContain('carbon-mirror schema');
    expect(await run('query', 'delete from retirements')).toMatchObject({ exitCode: 2 });
    expect(await run('query', 'select 1; select 2')).toMatchObject({ exitCode: 2 });
    expect(await run('query', 'select 1', '--time-limit', 'soon')).toMatchObject({ exitCode: 2 });
  });

  test('stops an endless query at its time limit with exit code 3', async () => {
    const endless = 'with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n';
    const { exitCode, stderr } = await run('query', endless, '--time-limit', '0.3');
    expect(exitCode).toBe(3);
    expect(stderr).toContain('stopped after 0.3 s');
  });

  test('streams a hundred thousand rows', async () => {
    const many =
      'with recursive n(i) as (select 1 union all select i + 1 from n limit 100000) select i from n';
    const { exitCode, stdout } = await run('query', many, '--csv');
    expect(exitCode).toBe(0);
    expect(stdout.trimEnd().split('\n')).toHaveLength(100_001);
  });

  test('shows both of two columns with the same name', async () => {
    expect(await json('query', 'select 1 as a, 2 as a')).toEqual([{ a: 1, 'a:2': 2 }]);
  });
});

describe('lists', () => {
  for (const [noun, table] of [
    ['installations', 'installations'],
    ['organizations', 'organizations'],
    ['warehouse', 'warehouse_credits'],
    ['inventory', 'inventory_credits'],
    ['retirements', 'retirements'],
    ['projects', 'projects'],
    ['members', 'members'],
    ['addresses', 'addresses'],
  ] as const) {
    test(`${noun} list shows what is mirrored`, async () => {
      const [counted] = await demo.rows(`SELECT count(*) AS n FROM ${table}`);
      expect(await listRows(noun, '--limit', '0')).toHaveLength(Number(counted?.['n']));
      const limited = await run(noun, 'list', '--limit', '1');
      // A table of amounts ends with an empty line and the total.
      const totalLines = ['warehouse', 'inventory', 'retirements'].includes(noun) ? 2 : 0;
      expect(limited.stdout.trimEnd().split('\n')).toHaveLength(2 + totalLines);
      expect(limited.stderr).toContain('Use --limit 0 for all');
      expect(await run(noun, 'list', '--limit', 'x')).toMatchObject({ exitCode: 2, stdout: '' });
    });
  }

  test('retirements show prints every column and the whole object', async () => {
    const [{ id } = { id: '' }] = await listRows('retirements', '--limit', '1');
    const outcome = await run('retirements', 'show', id);
    expect(outcome.stdout).toContain('amount_micro');
    expect(await json('retirements', 'show', id)).toMatchObject({
      id,
      row: { id },
      versions: [{ valid_to: null }],
    });
    const missing = await run('retirements', 'show', 'nobody');
    expect(missing).toMatchObject({ exitCode: 6, stdout: '' });
    expect(missing.stderr).toContain('No row of retirements has the id "nobody"');
  });
});

describe('as-of', () => {
  test('refuses an invalid or future date and an ambiguous organization', async () => {
    expect(await run('as-of', '2025-02-30')).toMatchObject({ exitCode: 2 });
    expect(await run('as-of', 'yesterday')).toMatchObject({ exitCode: 2 });
    expect((await run('as-of', '2999-01-01')).stderr).toContain('is in the future');
    expect((await run('as-of', '2025-01-01')).stderr).toContain('--organization is required');
    expect(await run('as-of', '2025-01-01', '--csv')).toMatchObject({ exitCode: 2 });
  });
});

describe('deliveries and jobs', () => {
  test('deliveries list and show report whether a webhook arrived and its outcome', async () => {
    const rows = await listRows('deliveries');
    expect(rows).toHaveLength(demo.organizationIds.length);
    expect(rows[0]).toMatchObject({ event: 'installed', verdict: 'accepted', job_state: 'done' });
    const outcome = await run('deliveries', 'show', String(rows[0].id));
    expect(outcome.stdout).toContain('"event": "installed"');
    expect(rows[0].organization_name).toEqual(expect.any(String));
    expect(rows[0].end).toMatch(/^read in \d+\.\d s: (nothing new$|[+~-]\d)/);
    expect((await run('deliveries', 'list')).stdout).toContain(rows[0].organization_name);
    expect(await json('deliveries', 'show', '1')).toMatchObject({ id: 1, content: { event: 'installed' } });
    expect(await listRows('deliveries', '--ignored')).toEqual([]);
    expect(await run('deliveries', 'show', '999')).toMatchObject({ exitCode: 6, stdout: '' });
    expect(await run('deliveries', 'show', 'first')).toMatchObject({ exitCode: 2, stdout: '' });
  });

  test.each([80, 120])('deliveries list shows the whole outcome and the job on %s columns', async columns => {
    const { stdout } = await runCommand(['deliveries', 'list'], {
      env: { ...demo.env, NO_COLOR: '1' },
      terminal: true,
      columns,
    });
    const [heading = '', ...lines] = stdout.trimEnd().split('\n');
    expect(heading.split(/ +/)).toEqual(
      expect.arrayContaining(['id', 'event', 'job_state', 'job_id', 'end']),
    );
    expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(columns);
    const outcomes = lines.map(line => line.slice(heading.indexOf('end'))).join(' ');
    for (const { end } of await listRows('deliveries')) expect(outcomes).toContain(end);
  });

  test('jobs are listed, shown and retried', async () => {
    const jobs = await listRows('jobs', '--state', 'done');
    expect(jobs.length).toBeGreaterThan(0);
    expect((await run('jobs', 'show', String(jobs[0].id))).stdout).toContain('attempts');
    expect(await run('jobs', 'list', '--state', 'dead')).toMatchObject({ exitCode: 2 });
    expect(await run('jobs', 'show', '99999')).toMatchObject({ exitCode: 6 });
    expect(await run('jobs', 'retry', '99999')).toMatchObject({ exitCode: 6 });
    const refused = await run('jobs', 'retry', String(jobs[0].id));
    expect(refused).toMatchObject({ exitCode: 3 });
    expect(refused.stderr).toMatch(/has not failed: it is done, /);
    expect(jobs.some((job: { organization_name: string | null }) => job.organization_name)).toBe(true);
    expect(await run('jobs', 'retry')).toMatchObject({ exitCode: 2 });
    expect(await run('jobs', 'retry', '--all', '--json')).toEqual({
      exitCode: 0,
      stdout: '[]\n',
      stderr: 'No failed jobs.\n',
    });
  });
});

describe('syncs', () => {
  test('list shows the start, trigger, duration and changes of each read', async () => {
    const syncs = await listRows('syncs', '--limit', '0');
    const [counted] = await demo.rows('SELECT count(*) AS n, sum(rows_added) AS added FROM syncs');
    expect(syncs).toHaveLength(Number(counted?.['n']));
    const added = syncs.reduce((sum: number, each: { rows_added: number }) => sum + each.rows_added, 0);
    expect(added).toBe(counted?.['added']);
    expect(syncs[0].id).toBeGreaterThan(syncs.at(-1).id);
    const [first] = await listRows('syncs', '--resource', 'warehouse', '--limit', '1');
    expect(first).toMatchObject({ resource: 'warehouse', state: 'complete', seconds: expect.any(Number) });
    expect(await listRows('syncs', '--drift')).toEqual(
      syncs.filter((each: { drift: number }) => each.drift > 0).slice(0, 50),
    );
    expect(await run('syncs', 'list', '--resource', 'weather')).toMatchObject({ exitCode: 2, stdout: '' });
  });
});

test.each([
  ['certificates', 'export', ''],
  ['snapshot', ''],
  ['snapshot', '/nope/copy.db'],
  ['snapshot', '/dev/null/copy.db'],
  ['certificates', 'export', '/proc/nope'],
  ['query', ''],
  ['--env-file', '/', 'status'],
  ['as-of', ''],
  ['retirements', 'show', ''],
  ['jobs', 'retry', ''],
  ['schema', ''],
])('an unusable argument leads to a message without a stack trace: %s %s', async (...argv) => {
  const { exitCode, stdout, stderr } = await run(...argv);
  expect({ argv, exitCode: [2, 6].includes(exitCode) ? 'told' : exitCode, stdout }).toEqual({
    argv,
    exitCode: 'told',
    stdout: '',
  });
  expect(stderr).not.toMatch(/^ +at /m);
  expect(stderr).not.toBe('');
});

describe('snapshot', () => {
  test('writes a description of when it was made, from which mirror, and how far each resource was read', async () => {
    const file = join(demo.folder, 'told.db');
    expect(await json('snapshot', file)).toMatchObject({ file, about: `${file}.json` });
    const about = JSON.parse(readFileSync(`${file}.json`, 'utf8'));
    expect(about).toMatchObject({
      file,
      bytes: statSync(file).size,
      as_of: expect.stringMatching(/Z$/),
      made_at: expect.stringMatching(/Z$/),
      registry: expect.stringContaining('127.0.0.1'),
    });
    expect(about.coverage).toContainEqual(
      expect.objectContaining({ resource: 'warehouse', state: 'fresh', as_of: expect.any(String) }),
    );
    expect(statSync(`${file}.json`).mode & 0o777).toBe(0o600);
    rmSync(file);
    expect(await run('snapshot', file)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('told.db.json already exists'),
    });
    expect(existsSync(file)).toBe(false);
  });

  test('writes a complete copy to one private file and never overwrites', async () => {
    const file = join(demo.folder, 'copy.db');
    expect(await json('snapshot', file)).toMatchObject({ file });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await openTablesOfFile(file).value('SELECT count(*) FROM retirements')).toBe(150);
    const again = await run('snapshot', file);
    expect(again).toMatchObject({ exitCode: 2 });
    expect(again.stderr).toContain('already exists');
  });
});
