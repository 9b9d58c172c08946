import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { migrateFile } from '../../../src/store/sqlite/migrate.js';
import { runSqlQuery as askSqlite } from '../../../src/store/sqlite/sql-query/run-sql-query.js';
import { runSqlQuery } from '../../../src/store/postgres/run-sql-query.js';
import { openPostgres } from '../../../src/store/postgres/open-postgres.js';
import type { StatementRows } from '../../../src/store/contract/sql-query.js';
import type { Row } from '../../../src/store/contract/tables.js';
import { runCommand } from '../../support/command.js';
import { takeEmptyDatabase, createRole, openForTest, getRoleName } from '../../support/postgres.js';
import { temporaryFolder } from '../../support/inbox.js';

const ENDLESS = 'with recursive n(i) as (values(1) union all select i + 1 from n) select count(*) from n';
const LONG = 60_000;

async function scene(as: 'work' | 'read' = 'work') {
  const database = await takeEmptyDatabase();
  const postgres = openForTest(database);
  const { url } = await createRole(postgres, database, as);
  const options = { url, name: 'asking', connections: 1, onFault: () => undefined };
  const askers = async () => {
    const rows = await postgres.query<{ query: string }>(
      "SELECT query FROM pg_stat_activity WHERE datname = $1 AND application_name = 'asking'",
      [database.name],
    );
    return rows.map(({ query }) => query);
  };
  const asking = (sql: string, timeLimitMs = LONG, signal = new AbortController().signal) =>
    runSqlQuery(options, { sql, timeLimitMs, signal });
  return { database, url, ...postgres, asking, askers, all: async (sql: string) => allOf(await asking(sql)) };
}

async function allOf({ columns, rows }: StatementRows): Promise<{ columns: readonly string[]; rows: Row[] }> {
  const all: Row[] = [];
  for await (const row of rows) all.push(row);
  return { columns, rows: all };
}

function onSqlite(sql: string, signal = new AbortController().signal): Promise<StatementRows> {
  const folder = temporaryFolder();
  const files = { mirrorFile: `${folder}/mirror.db`, inboxFile: `${folder}/inbox.db` };
  migrateFile(files.mirrorFile, 'mirror', '2026-05-04T12:00:00.000Z');
  migrateFile(files.inboxFile, 'inbox', '2026-05-04T12:00:00.000Z');
  return askSqlite({ ...files, sql, timeLimitMs: LONG, signal });
}

const ASKED = [
  "select 1 as a, 'x' as b, null as c, 9223372036854775807 as d, 1 = 1 as e, 2 = 3 as f",
  'select 1 as same, 2 as same, 3 as same',
  'select id from retirements where 1 = 0',
  '/* a comment */ -- and one more\n select count(*) as n from available_credits;',
  'select state, count(*) as n from inbox.jobs group by state',
  'values (1, 2), (3, 4)',
  'with recursive n(i) as (values(1) union all select i + 1 from n where i < 2000) select i, i * 1000003 as j from n order by i',
  'select last, only_row from version_counter',
];

test('a query returns the same rows as on SQLite', async () => {
  const { all } = await scene();
  for (const sql of ASKED) expect(await all(sql), sql).toEqual(await allOf(await onSqlite(sql)));
});

test('an instant has the usual format, and a value of an unsupported type has the text of the server', async () => {
  const { all } = await scene();
  const { rows } = await all(
    "select '2026-05-04 14:00+02'::timestamptz as a, 'infinity'::timestamptz as b, '\\x00ff'::bytea as c, array[1,2] as d, 1.5::numeric as e",
  );
  expect(rows).toEqual([
    { a: '2026-05-04T12:00:00.000Z', b: 'infinity', c: Buffer.from([0, 255]), d: '{1,2}', e: 1.5 },
  ]);
});

test.each([
  ['123456789012.123456::numeric', '123456789012.123456'],
  ['12345678901234567890.5::numeric', '12345678901234567890.5'],
  ['-0.12345678901234567890::numeric', '-0.12345678901234567890'],
  ['9.99999999999999999::numeric', '9.99999999999999999'],
  ["('0.' || repeat('0', 400) || '1')::numeric", `0.${'0'.repeat(400)}1`],
  ["'NaN'::numeric", 'NaN'],
  ["'NaN'::float8", 'NaN'],
  ["'-Infinity'::float8", '-Infinity'],
  ['-1234567.891000::numeric', -1234567.891],
  ['0.000000123::numeric', 0.000000123],
  ['0.00::numeric', 0],
  ['100.0::numeric', 100],
  ['avg(n) from (values (1), (2), (2)) as v (n)', 1.6666666666666667],
  ['12345678901234567890::numeric', 12345678901234567890n],
  ['0.1::float8', 0.1],
])(
  'a number is returned as a number if it keeps every digit, or else as the text of the server: %s',
  async (sql, n) => {
    const { all } = await scene();
    const asked = sql.includes(' from ') ? sql.replace(' from ', ' as n from ') : `${sql} as n`;
    expect((await all(`select ${asked}`)).rows).toEqual([{ n }]);
  },
);

describe('T76 a query that writes is refused', () => {
  test.each([
    "insert into origin (only_row, base_url, app_id, first_at) values (1, 'x', 'y', now())",
    'with gone as (delete from version_counter returning last) select * from gone',
    'select 1; commit; update mirror.version_counter set last = 99',
    "select set_config('transaction_read_only', 'off', true) union all select 'x'",
    'explain analyze update version_counter set last = 99',
    "select inbox.perform_steps(array['update mirror.version_counter set last = 99 returning ''{}''::jsonb'], '{}')",
    'select last from version_counter for update',
    'select 1 into another',
    'do $$ begin end $$',
    'commit',
    'table version_counter',
  ])('%s', async sql => {
    const { all, query } = await scene();
    await expect(all(sql)).rejects.toMatchObject({ name: 'SqlQueryError', code: 'refused' });
    expect(await query('SELECT last FROM mirror.version_counter')).toEqual([{ last: 0 }]);
  });
});

test('an unknown column is refused with the message of the server', async () => {
  const { all } = await scene();
  await expect(all('select nothing from retirements')).rejects.toThrow('column "nothing" does not exist');
});

test('an EXPLAIN returns rows', async () => {
  const { all } = await scene();
  expect((await all('explain select * from retirements')).columns).toEqual(['QUERY PLAN']);
});

test.each([
  ENDLESS,
  'select pg_sleep(600)',
  'select i, pg_sleep(0.01) as s from generate_series(1, 1000000) as i',
])('T76 the time limit stops the query on the server: %s', async sql => {
  const { asking, askers } = await scene();
  await expect(asking(sql, 700).then(allOf)).rejects.toMatchObject({ code: 'time_limit' });
  await expect.poll(askers).toEqual([]);
});

const OFF = ['statement_timeout', 'idle_in_transaction_session_timeout', 'client_connection_check_interval'];
/** The rows at first are so many that the work begins when the limits are off. */
const WITHOUT_LIMITS = `select ${OFF.map(name => `set_config('${name}', '0', false)`).join()}, i
  from generate_series(1, 20) as i union all select '', '', '', count(*)::int from generate_series(1, 100000000000)`;

test.each(['work', 'read'] as const)(
  'T88 a query that turns its limits off is still ended on the server at its time limit: %s',
  async as => {
    const { asking, askers } = await scene(as);
    await expect(asking(WITHOUT_LIMITS, 1500).then(allOf)).rejects.toMatchObject({ code: 'time_limit' });
    await expect.poll(askers).toEqual([]);
  },
);

test('T88 a query that turns its limits off is ended on the server when its caller leaves', async () => {
  const { asking, askers } = await scene();
  const goes = new AbortController();
  const answer = asking(WITHOUT_LIMITS, LONG, goes.signal).then(allOf);
  await expect.poll(askers).toEqual(['FETCH 40 FROM answer']);
  goes.abort();
  await expect(answer).rejects.toMatchObject({ code: 'ended' });
  await expect.poll(askers).toEqual([]);
});

test('T88 a query whose caller left before its start is not run, on either engine', async () => {
  const { asking } = await scene();
  const gone = { code: 'ended', message: 'The query was cancelled before it had finished.' };
  await expect(asking('select 1', LONG, AbortSignal.abort())).rejects.toMatchObject(gone);
  await expect(onSqlite('select 1', AbortSignal.abort())).rejects.toMatchObject(gone);
  const goes = new AbortController();
  const answer = asking('select 1', LONG, goes.signal);
  goes.abort();
  await expect(answer).rejects.toMatchObject(gone);
});

test('T88 queries run as the role of QUERY_DATABASE_URL and cannot end sessions of the program', async () => {
  const { database, query } = await scene();
  const reads = await createRole({ query }, database, 'read');
  const writes = await createRole({ query }, database, 'work');
  const env = { MIRROR_DATABASE_URL: writes.url, QUERY_DATABASE_URL: reads.url };
  const answerTo = (sql: string, given: Record<string, string> = env) =>
    runCommand(['query', sql, '--json'], { env: given });
  const ended: Error[] = [];
  const session = openPostgres({
    url: writes.url,
    name: 'test',
    connections: 1,
    onFault: error => ended.push(error),
  });
  onTestFinished(() => session.close());
  const [{ pid } = { pid: 0 }] = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  expect(JSON.parse((await answerTo('select current_user as role')).stdout)).toEqual([
    { role: getRoleName(reads) },
  ]);
  const ends = `select pg_terminate_backend(${pid}) as done`;
  expect((await answerTo(ends)).stderr).toMatch(/^SQL: .*(permission denied|must be a member)/);
  const [row] = await query<{ there: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = ${pid}) AS there`,
  );
  expect(row).toEqual({ there: true });
  expect(ended).toEqual([]);
  expect((await answerTo(ends, { MIRROR_DATABASE_URL: writes.url })).exitCode).toBe(0);
  await expect.poll(() => ended.length).toBe(1);
});

test('T88 temp_file_limit of the query role limits its temporary files, and a query cannot lift it', async () => {
  const { database, query } = await scene();
  const reads = await createRole({ query }, database, 'read');
  await query(`ALTER ROLE "${getRoleName(reads).replaceAll('"', '""')}" SET temp_file_limit = '8MB'`);
  const env = { MIRROR_DATABASE_URL: database.url, QUERY_DATABASE_URL: reads.url };
  const large =
    "select count(*) from (select repeat('x', 100) as x, i from generate_series(1, 500000) as i order by 1, 2) as t";
  const tooLarge = await runCommand(['query', large], { env });
  expect(tooLarge).toMatchObject({ exitCode: 1, stdout: '' });
  expect(tooLarge.stderr).toMatch(/^The query was stopped: temporary file size exceeds/);
  const lifts = await runCommand(['query', "select set_config('temp_file_limit', '-1', false)"], { env });
  expect(lifts.stderr).toContain('permission denied to set parameter');
});

test.each(['SIGINT', 'SIGKILL'] as const)(
  'T76 a query stops on the server when its process ends by %s',
  async signal => {
    const { url, askers } = await scene();
    const program = fileURLToPath(new URL('../../support/query-process.js', import.meta.url));
    const child = spawn(process.execPath, [program, url, ENDLESS], { stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    await expect.poll(askers).toEqual(['FETCH 10 FROM answer']);
    child.kill(signal);
    await once(child, 'exit');
    await expect.poll(askers).toEqual([]);
  },
);

test('rows are streamed, and leaving an endless stream ends its query', async () => {
  const { asking, askers } = await scene();
  const { rows } = await asking("select generate_series(1, 1000000000) as i, repeat('x', 1000) as x");
  let seen = 0;
  for await (const row of rows) {
    expect(row['i']).toBe(BigInt(seen + 1));
    if ((seen += 1) === 3_000) break;
  }
  await expect.poll(askers).toEqual([]);
});

test.each([
  ['a query for a row', "select repeat('x', 5000000) as x", 'a row has 5 MB, the limit is 4 MB'],
  ['a query for a value', "select repeat('x', 150000000) as x", 'rows of it hold more than 32 MB'],
  [
    'a query for many rows',
    "select repeat('x', 4100000) as x from generate_series(1, 100)",
    'rows of it hold more than 32 MB',
  ],
])('%s that exceeds the memory limit is refused', async (_, sql, message) => {
  const { all, askers } = await scene();
  await expect(all(sql)).rejects.toMatchObject({ code: 'too_large', message });
  await expect.poll(askers).toEqual([]);
});

describe('T88 a query role with rights beyond the tables', () => {
  const POWERS: readonly (readonly [power: string, give: (role: string) => string])[] = [
    ['SUPERUSER', role => `ALTER ROLE ${role} SUPERUSER`],
    ['REPLICATION', role => `ALTER ROLE ${role} REPLICATION`],
    ['BYPASSRLS', role => `ALTER ROLE ${role} BYPASSRLS`],
    ['pg_read_server_files', role => `GRANT pg_read_server_files TO ${role}`],
    ['pg_write_server_files', role => `GRANT pg_write_server_files TO ${role}`],
    ['pg_execute_server_program', role => `GRANT pg_execute_server_program TO ${role}`],
    ['pg_read_all_data', role => `GRANT pg_read_all_data TO ${role}`],
    ['SUPERUSER', role => `ALTER ROLE ${role} NOINHERIT; GRANT postgres TO ${role}`],
  ];

  test.each(POWERS)('gets no query and fails doctor: %s (%#)', async (power, give) => {
    const { database, query } = await scene();
    const reads = await createRole({ query }, database, 'read');
    const writes = await createRole({ query }, database, 'work');
    const env = { MIRROR_DATABASE_URL: writes.url, QUERY_DATABASE_URL: reads.url };
    const run = (...words: string[]) => runCommand(words, { env });
    expect(await run('query', 'select 1')).toMatchObject({ exitCode: 0 });
    await query(give(`"${getRoleName(reads).replaceAll('"', '""')}"`));
    const refused = await run('query', "select pg_read_file('/etc/passwd')");
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toMatch(
      new RegExp(`^Nothing is asked in SQL: the role .*: .*\\b${power}\\b.*\\.\nMake a role`),
    );
    const doctor = JSON.parse((await run('doctor', '--json')).stdout);
    expect(doctor).toContainEqual(
      expect.objectContaining({ check: 'questions', state: 'fail', found: expect.stringContaining(power) }),
    );
  });

  test('is refused even if it is the role of the program', async () => {
    const { database } = await scene();
    const env = { MIRROR_DATABASE_URL: database.url };
    expect(await runCommand(['query', 'select 1'], { env })).toMatchObject({ exitCode: 2, stdout: '' });
    const doctor = JSON.parse((await runCommand(['doctor', '--json'], { env })).stdout);
    expect(doctor).toContainEqual(
      expect.objectContaining({
        check: 'questions',
        state: 'fail',
        found: expect.stringContaining('SUPERUSER'),
      }),
    );
  });
});
