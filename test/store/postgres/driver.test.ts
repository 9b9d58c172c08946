import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { parseInstant, toLibpqUrl } from '../../../src/store/postgres/driver.js';
import { toDatabase } from '../../../src/store/postgres/database.js';
import { type Params, prepared } from '../../../src/store/sql/prepared.js';
import { openPostgres } from '../../../src/store/postgres/open-postgres.js';
import { openForTest, createDatabase, getSharedDatabase } from '../../support/postgres.js';

const INSTANTS = [
  ['2026-05-04 12:00:00+00', '2026-05-04T12:00:00.000Z'],
  ['2026-05-04 12:00:00.5+00', '2026-05-04T12:00:00.500Z'],
  ['9999-12-31 23:59:59.999+00', '9999-12-31T23:59:59.999Z'],
  ['0001-01-01 00:00:00+00 BC', '0000-01-01T00:00:00.000Z'],
] as const;

test('an instant is read correctly with any DateStyle of the role or the database', async () => {
  const database = await createDatabase({ migrated: false });
  await openForTest(database, 1).query(`ALTER DATABASE ${database.name} SET DateStyle = 'SQL, DMY'`);
  const postgres = openForTest(database, 1);
  expect(await postgres.query("SELECT '2026-05-04 12:00:00+00'::timestamptz AS at")).toEqual([
    { at: '2026-05-04T12:00:00.000Z' },
  ]);
});

test.each(INSTANTS)(
  'the instant %s is read as %s in every time zone of a connection',
  async (sent, shown) => {
    const database = await createDatabase();
    const postgres = openForTest(database, 1);
    for (const zone of ['UTC', 'Europe/Copenhagen', 'America/St_Johns', 'Asia/Kathmandu']) {
      await postgres.query(`SET TIME ZONE '${zone}'`);
      expect(await postgres.query('SELECT $1::timestamptz(3) AS at', [sent]), zone).toEqual([{ at: shown }]);
    }
  },
);

test('an instant in an unknown format is an error and never another instant', () => {
  for (const text of ['04.05.2026 12:00:00 UTC', 'infinity', '']) {
    expect(() => parseInstant(text), text).toThrow('DateStyle');
  }
});

test('64-bit integers keep their digits, and sums of them are numbers', async () => {
  const postgres = openForTest(getSharedDatabase());
  const [row] = await postgres.query(
    'SELECT 9007199254740991::bigint AS safe, 9223372036854000000::bigint AS large, sum(n) AS sum, avg(n) AS mean\n' +
      'FROM (VALUES (1::bigint), (2)) AS v (n)',
  );
  expect(row).toEqual({ safe: 9007199254740991, large: 9223372036854000000n, sum: 3, mean: 1.5 });
});

test.each([
  ['postgres://a:b@127.0.0.1/m', 'disable'],
  ['postgres://a:b@localhost:5433/m', 'disable'],
  ['postgres://a:b@[::1]/m', 'disable'],
  ['postgres://a:b@/m?host=/run/postgresql', 'disable'],
  ['postgres://a:b@db.example/m', 'require'],
  ['postgres://a:b@127.0.example/m', 'require'],
  ['postgres://a:b@db.example/m?sslmode=verify-full', 'verify-full'],
  ['postgres://a:b@localhost/m?sslmode=require', 'require'],
])('a connection to %s with sslmode %s behaves as with libpq', (url, mode) => {
  const { searchParams } = new URL(toLibpqUrl(url));
  expect(searchParams.get('sslmode')).toBe(mode);
  expect(searchParams.get('uselibpqcompat')).toBe('true');
});

test('a connection has an application name, and one that breaks while idle is reported and opened again', async () => {
  const faults: Error[] = [];
  const postgres = openPostgres({
    url: getSharedDatabase().url,
    name: 'carbon-mirror work',
    connections: 1,
    onFault: error => faults.push(error),
  });
  const who = 'SELECT pid, application_name AS name FROM pg_stat_activity WHERE pid = pg_backend_pid()';
  const [first] = await postgres.query<{ pid: number; name: string }>(who);
  expect(first?.name).toBe('carbon-mirror work');
  await openForTest(getSharedDatabase(), 1).query('SELECT pg_terminate_backend($1::int)', [first?.pid ?? 0]);
  await expect.poll(() => faults.length).toBe(1);
  const [second] = await postgres.query<{ pid: number }>(who);
  await postgres.close();
  expect(second?.pid).not.toBe(first?.pid);
});

const SETTINGS = 'SET LOCAL jit = off';
const whole = (text: string) => ({ text, values: [] });

test('the statements of a whole transaction see what others committed meanwhile', async () => {
  const database = await createDatabase();
  const postgres = openForTest(database);
  const lock = whole('UPDATE mirror.version_counter SET last = last + 1');
  const count = whole('SELECT sum(claim) AS claims FROM mirror.fences');
  let done: Promise<unknown> = Promise.resolve();
  await openForTest(database, 1).transact(async query => {
    await query('UPDATE mirror.version_counter SET last = last + 1');
    done = postgres.sendTransaction(SETTINGS, [lock, count], 15_000);
    await expect
      .poll(() =>
        openForTest(database, 1).query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"),
      )
      .toHaveLength(1);
    await query("INSERT INTO mirror.fences VALUES ('organization-1', 'data', 7)");
  });
  expect(await done).toEqual([[], [{ claims: 7 }]]);
});

test('a transaction with a failed statement leaves nothing behind, and its connection stays usable', async () => {
  const postgres = openForTest(await createDatabase(), 1);
  const put = whole("INSERT INTO mirror.awaited_installations VALUES ('a', NULL, now()) RETURNING id");
  const all = () => postgres.query('SELECT id FROM mirror.awaited_installations');
  const broken = postgres.sendTransaction(SETTINGS, [put, whole('SELECT 1 / 0'), put], 15_000);
  await expect(broken).rejects.toThrow('division by zero');
  expect(await all()).toEqual([]);
  expect(await postgres.sendTransaction(SETTINGS, [put], 15_000)).toEqual([[{ id: 'a' }]]);
  expect(await all()).toHaveLength(1);
});

const DIVIDE_BY_ZERO = prepared(() => sql`SELECT 1 / 0`);

test('all statements of a message are answered before the first error is thrown, and all are rolled back', async () => {
  const postgres = openForTest(await createDatabase());
  const { transact } = toDatabase(postgres);
  const put = prepared(
    (_, { id }: Params<{ readonly id: string }>) =>
      sql`INSERT INTO mirror.awaited_installations VALUES (${id}, NULL, now())`,
  );
  await expect(
    transact(batch => batch(put({ id: 'a' }), DIVIDE_BY_ZERO(), put({ id: 'b' }))),
  ).rejects.toThrow('division by zero');
  expect(await postgres.query('SELECT id FROM mirror.awaited_installations')).toEqual([]);
  await transact(batch => batch(put({ id: 'c' }), null, put({ id: 'd' })));
  expect(await postgres.query('SELECT id FROM mirror.awaited_installations')).toHaveLength(2);
});

test('a transaction whose code swallowed an error is rejected because nothing was committed', async () => {
  const { transact } = toDatabase(openForTest(await createDatabase()));
  const hidden = transact(batch => batch(DIVIDE_BY_ZERO()).catch(() => undefined));
  await expect(hidden).rejects.toThrow('expected COMMIT, and the server answered ROLLBACK');
});
