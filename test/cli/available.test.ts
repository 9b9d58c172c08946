import { rmSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { startDemoForFile } from '../support/mirror/demo.js';
import { copyMirror, type MirrorCopy } from '../support/mirror-copy.js';
import { makeFolder } from '../support/folder.js';

let mirror: MirrorCopy;
/** Ids of organizations that hold credits in their warehouse. */

const demo = await startDemoForFile();
const [failing = ''] = (
  await demo.rows(
    'SELECT organization_id AS id FROM warehouse_credits GROUP BY organization_id ORDER BY count(*) DESC',
  )
).map(({ id }) => String(id));

beforeEach(() => {
  mirror = copyMirror(demo.folder);
});

async function run(...argv: string[]) {
  return await runCommand(['available', ...argv], { env: { DATA_DIR: mirror.folder } });
}

interface Answer {
  readonly rows: {
    readonly organization_id: string;
    readonly project_name: string;
    readonly vintage: string;
    readonly type: string;
    readonly amount_micro: number;
    readonly rows: number;
  }[];
  readonly left_out: {
    readonly organization_id: string;
    readonly state: string;
    readonly reason: string;
    readonly rows: number;
  }[];
}

async function json(...argv: string[]): Promise<Answer> {
  const { stdout } = await run('--json', ...argv);
  return JSON.parse(stdout);
}

async function sumHeld(): Promise<{ rows: number; micro: number }> {
  const [sum] = await mirror.rows('SELECT count(*) AS n, sum(amount_micro) AS micro FROM warehouse_credits');
  return { rows: Number(sum?.['n']), micro: Number(sum?.['micro']) };
}

const count = (parts: readonly { readonly rows: number }[]) => parts.reduce((sum, { rows }) => sum + rows, 0);

test('P11 available credits add up to the credits in the fresh warehouses', async () => {
  const { rows, left_out } = await json();
  expect(left_out).toEqual([]);
  expect({ rows: count(rows), micro: rows.reduce((sum, row) => sum + row.amount_micro, 0) }).toEqual(
    await sumHeld(),
  );
  expect(await run()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('fresh') });
  expect((await run('--csv')).stdout.split('\n')[0]).toContain('project_name');
  const ids = await mirror.rows('SELECT DISTINCT credit_id FROM warehouse_credits ORDER BY credit_id');
  const { stdout } = await run();
  for (const { credit_id: id } of ids) expect(stdout).toContain(String(id));
});

test('T85 available prints a total with its unit for each credit type, of the filtered credits only', async () => {
  const { micro } = await sumHeld();
  const { stdout } = await run();
  const pattern = /\d+ credits available now: ([\d,.]+) t ex-post and ([\d,.]+) t ex-ante\.\n$/;
  const totals = (pattern.exec(stdout) ?? [])
    .slice(1)
    .map(tonnes => Number(tonnes.replaceAll(',', '')) * 1e6);
  const { rows: all } = await json();
  const sumOfType = (type: string) =>
    all.filter(row => row.type === type).reduce((sum, row) => sum + row.amount_micro, 0);
  expect(totals.map(Math.round)).toEqual([sumOfType('exPost'), sumOfType('exAnte')]);
  expect(sumOfType('exPost') + sumOfType('exAnte')).toBe(micro);
  const [{ project_name: project, vintage, type } = fail()] = (await json()).rows;
  const some = await json(
    '--project',
    project.slice(1, 9).toUpperCase(),
    '--vintage',
    vintage,
    '--type',
    type,
  );
  expect(some.rows.length).toBeGreaterThan(0);
  for (const row of some.rows) expect(row).toMatchObject({ project_name: project, vintage, type });
  const spelled = (await json('--type', 'EX-POST')).rows;
  expect(spelled.map(row => row.type)).toEqual(all.flatMap(row => (row.type === 'exPost' ? row.type : [])));
  expect(await run('--vintage', 'old')).toMatchObject({ exitCode: 2, stdout: '' });
});

function fail(): never {
  throw new Error('nothing is available');
}

test('a filter that no warehouse ever matched exits with 6; credits that are sold out give an empty answer', async () => {
  for (const [name, value] of [
    ['vintage', '1066'],
    ['project', 'No such'],
  ] as const)
    for (const form of [[], ['--json']])
      expect(await run(`--${name}`, value, ...form)).toMatchObject({
        exitCode: 6,
        stdout: '',
        stderr: expect.stringContaining(
          `No known warehouse has ever held credits with the ${name} "${value}"`,
        ),
      });
  const [{ vintage } = fail()] = (await json()).rows;
  await mirror.change("UPDATE projects SET full_name = 'Another name than its credits have'");
  await mirror.change("UPDATE warehouse_credits SET type = 'ex-Other' WHERE organization_id = ?", failing);
  expect((await json('--type', 'ex-Other')).rows).not.toEqual([]);
  await mirror.change("UPDATE installations SET state = 'suspended'");
  const renamed = await json('--project', 'another name');
  const rows = await mirror.rows(
    'SELECT 1 FROM warehouse_credits WHERE project_id IN (SELECT id FROM projects)',
  );
  expect(count(renamed.left_out)).toBe(rows.length);
  expect(await run('--vintage', vintage)).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('No available credits match these filters.'),
  });
});

test('available prints a sentence instead of an empty table, and what is left out of a CSV file', async () => {
  await mirror.change("UPDATE installations SET state = 'suspended'");
  const { exitCode, stdout } = await run();
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^No credits are available now\.\n/);
  const { stderr } = await run('--csv');
  expect(stderr).toMatch(
    /^Left out: .+: last read .+ ago, no access \(suspended\) \(\d+ rows, [\d,.]+ t ex-post.*\)$/m,
  );
});

test('available exits with 3 if no warehouse is known', async () => {
  const folder = makeFolder('carbon-mirror-empty-');
  const env = { DATA_DIR: folder };
  expect(await runCommand(['migrate'], { env })).toMatchObject({ exitCode: 0 });
  for (const form of [[], ['--json']]) {
    const { exitCode, stdout, stderr } = await runCommand(['available', ...form], { env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
    expect(stderr).toContain('No warehouse has been read yet');
  }
  rmSync(folder, { recursive: true });
});

test('a table of 80 columns always shows the credit type', async () => {
  const at80 = async (...argv: string[]) =>
    await runCommand(['available', ...argv], {
      env: { DATA_DIR: mirror.folder },
      terminal: true,
      columns: 80,
    });
  const long = "UPDATE warehouse_credits SET amount = 123456789.123456, amount_exact = '123456789.123456'";
  await mirror.change(
    `${long}, project_name = 'A project with a name that is much longer than its column is wide'`,
  );
  const { stdout, stderr } = await at80();
  const [head = '', ...lines] = stdout.split('\n').filter(line => line !== '');
  expect(head).toMatch(/\btype\b/);
  expect(lines.filter(line => /\bex(Post|Ante)\b/.test(line)).length).toBeGreaterThan(5);
  expect(Math.max(...lines.map(line => line.length))).toBeLessThan(200);
  expect(stderr).not.toMatch(/Hidden columns: [^.]*\btype\b/);
});

test('a terminal shows the first 100 credits and counts all; JSON, CSV and pipes have all', async () => {
  await mirror.change(
    `INSERT INTO warehouse_credits (organization_id, credit_id, inventory_id, vintage, type, amount, amount_micro, amount_exact, valid_from, sync_id, document, version)
     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150)
     SELECT organization_id, 'many-' || i, '', '1990', 'exPost', 1, 1000000, '1', valid_from, sync_id, '{}', -i
     FROM (SELECT * FROM warehouse_credits WHERE organization_id = ? LIMIT 1) CROSS JOIN n`,
    failing,
  );
  const env = { DATA_DIR: mirror.folder };
  const seen = await runCommand(['available', '--vintage', '1990'], { env, terminal: true, columns: 200 });
  expect(seen.stdout.match(/1990/g)?.length).toBe(100);
  expect(seen.stdout).toContain('150 t');
  expect(seen.stderr).toContain('Showing 100. Use --csv or --json for all.');
  expect((await run('--vintage', '1990')).stdout.match(/1990/g)?.length).toBe(150);
  expect((await run('--vintage', '1990', '--csv')).stdout.match(/many-\d+/g)?.length).toBe(150);
});
