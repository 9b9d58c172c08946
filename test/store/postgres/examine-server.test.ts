import { describe, expect, test } from 'vitest';
import { listServerFindings, type ServerStatus } from '../../../src/store/postgres/examine-server.js';
import { runCommand } from '../../support/command.js';
import {
  type TestDatabase,
  createRole,
  openForTest,
  getRoleName,
  createDatabase,
} from '../../support/postgres.js';

const SOUND: ServerStatus = {
  version: '18.4',
  bytes: 3,
  certificates: 0,
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_standby_names: '',
  replicas: 0,
  encrypted: false,
  standby: false,
  read_only: false,
};

const found = (server: Partial<ServerStatus>, url = 'postgres://db.example/mirror') =>
  listServerFindings(url, { ...SOUND, ...server })
    .slice(1)
    .map(({ state, found: said, todo }) => [state, `${said} ${todo}`]);

test('a server with safe settings has no finding', () => {
  expect(found({})).toEqual([]);
  expect(found({ replicas: 2, synchronous_standby_names: 'ANY 1 (*)' })).toEqual([]);
  const verified = 'postgres://db.example/mirror?sslmode=verify-full';
  expect(found({ encrypted: true }, verified)).toEqual([]);
});

test.each(['fsync', 'full_page_writes'] as const)('a server whose %s is off fails', name => {
  expect(found({ [name]: 'off' })).toEqual([
    ['fail', expect.stringMatching(`^${name} is off: a power cut can lose .* Set ${name} = on`)],
  ]);
});

test('asynchronous replicas are reported with what a failover can lose', () => {
  expect(found({ replicas: 1 })).toEqual([
    ['warn', expect.stringMatching(/failover.*synchronous_standby_names/)],
  ]);
});

test('an encrypted connection without verification is reported with the setting that verifies it', () => {
  const said = [['warn', expect.stringMatching(/nobody verified .*sslmode=verify-full/)]];
  expect(found({ encrypted: true })).toEqual(said);
  expect(found({ encrypted: true }, 'postgres://db.example/mirror?sslmode=require')).toEqual(said);
});

test('a standby server or a read-only role is a failure', () => {
  expect(found({ standby: true, read_only: true })).toEqual([
    ['fail', expect.stringMatching(/^the server is a standby: .* answered 503 Name the primary/)],
  ]);
  expect(found({ read_only: true })).toEqual([
    ['fail', expect.stringMatching(/default_transaction_read_only = on: .* let the role write/)],
  ]);
});

test('doctor fails if the database accepts no writes', async () => {
  const database = await createDatabase();
  await openForTest(database, 1).query(
    `ALTER DATABASE ${database.name} SET default_transaction_read_only = on`,
  );
  const of = await doctor({ MIRROR_DATABASE_URL: database.url });
  expect(of('databases').map(({ state }) => state)).toContain('fail');
});

async function doctor(env: Record<string, string>) {
  const { stdout } = await runCommand(['doctor', '--json'], { env });
  const findings: { check: string; state: string; found: string; todo: string | null }[] = JSON.parse(stdout);
  return (check: string) => findings.filter(finding => finding.check === check);
}

test('doctor reads the settings from the server', async () => {
  const database = await createDatabase();
  const of = await doctor({ MIRROR_DATABASE_URL: database.url });
  expect(of('databases')[0]?.found).toMatch(/^PostgreSQL \d+.*of which certificates take \d+ MiB$/);
  expect(of('durability').map(({ state }) => state)).toEqual(['fail', 'fail']);
});

test('an existing DATABASE_URL is not used, and doctor shows the line that would use it', async () => {
  const theirs = 'postgres://somebody:their-password@db.example/theirs';
  const { stdout } = await runCommand(['doctor', '--json'], {
    env: { DATABASE_URL: theirs, DATA_DIR: '/nowhere' },
  });
  expect(stdout).toContain('MIRROR_DATABASE_URL=\\"$DATABASE_URL\\" carbon-mirror up');
  expect(stdout).not.toContain('their-password');
});

test('a role without access to the evidence log can run doctor and verify, which report no leaves', async () => {
  const database = await createDatabase();
  const env = { MIRROR_DATABASE_URL: (await createRole(openForTest(database, 1), database, 'read')).url };
  const verified = await runCommand(['verify', '--json'], { env });
  expect(JSON.parse(verified.stdout)).toMatchObject({ sealed: null, leaves_not_checked: 0 });
  expect((await runCommand(['doctor'], { env })).stdout).not.toContain('permission denied');
});

describe('T88 doctor reports a fault of the query role and how to fix it', () => {
  async function scene() {
    const database = await createDatabase();
    const owner = openForTest(database, 1);
    const writes = await createRole(owner, database, 'work');
    const reads = await createRole(owner, database, 'read');
    const questions = async (asked: TestDatabase | null) => {
      const env = { MIRROR_DATABASE_URL: writes.url, ...(asked && { QUERY_DATABASE_URL: asked.url }) };
      return (await doctor(env))('questions').map(({ state, found: said, todo }) => [
        state,
        said,
        todo ?? '',
      ]);
    };
    return { database, owner, writes, reads, questions };
  }

  test('if there is no query role', async () => {
    const { questions } = await scene();
    expect(await questions(null)).toEqual([
      [
        'warn',
        expect.stringContaining('as the role that writes'),
        expect.stringContaining('QUERY_DATABASE_URL'),
      ],
    ]);
  });

  test('if temporary files are unlimited, or a function can write to the log of the server', async () => {
    const { owner, reads, questions } = await scene();
    const cures = await questions(reads);
    expect(cures.map(([state, said]) => [state, said])).toEqual([
      ['warn', expect.stringContaining('temporary files')],
      ['warn', expect.stringContaining('pg_logical_emit_message')],
    ]);
    for (const [, , todo = ''] of cures)
      await owner.query(todo.replace('As a superuser, in this database: ', ''));
    expect((await questions(reads)).map(([state]) => state)).toEqual(['ok']);
    const emits = openForTest(reads, 1).query("SELECT pg_logical_emit_message(false, 'a', 'b')");
    await expect(emits).rejects.toThrow('permission denied for function pg_logical_emit_message');
  });

  test('if it is the role of the program, can write, is a member of that role, or can end sessions of others', async () => {
    const { owner, writes, reads, questions } = await scene();
    expect((await questions(writes))[0]).toEqual([
      'warn',
      expect.stringContaining('the same role'),
      expect.anything(),
    ]);
    const quoted = ({ url }: TestDatabase) => `"${getRoleName({ name: '', url }).replaceAll('"', '""')}"`;
    const mayDoMore = [
      'warn',
      expect.stringContaining('may do more than read'),
      expect.stringContaining('schema --grants read'),
    ];
    for (const [more, less] of [
      ['GRANT DELETE ON mirror.members TO', 'REVOKE DELETE ON mirror.members FROM'],
      [`GRANT ${quoted(writes)} TO`, `REVOKE ${quoted(writes)} FROM`],
      ['GRANT pg_signal_backend TO', 'REVOKE pg_signal_backend FROM'],
    ]) {
      expect(await questions(reads)).not.toContainEqual(mayDoMore);
      await owner.query(`${more} ${quoted(reads)}`);
      expect(await questions(reads)).toContainEqual(mayDoMore);
      await owner.query(`${less} ${quoted(reads)}`);
    }
  });

  test('if it lacks a right to read, uses another database, or is refused by the server', async () => {
    const { database, owner, reads, questions } = await scene();
    await owner.query('CREATE TABLE mirror.of_a_later_version (id text)');
    expect(await questions(reads)).toContainEqual([
      'fail',
      expect.stringContaining('may not read 1 '),
      expect.stringContaining('schema --grants read'),
    ]);
    const other = { ...reads, url: reads.url.replace(database.name, (await createDatabase()).name) };
    expect(await questions(other)).toEqual([
      ['fail', expect.stringContaining('names another database'), expect.anything()],
    ]);
    const stranger = {
      ...reads,
      url: database.url.replace('//postgres@', '//nobody_of_that_name:very-secret-word@'),
    };
    const [refused] = await questions(stranger);
    expect(refused).toEqual([
      'fail',
      expect.stringContaining('role "nobody_of_that_name" does not exist'),
      expect.stringContaining('QUERY_DATABASE_URL'),
    ]);
    expect(String(refused)).not.toContain('very-secret-word');
  });
});
