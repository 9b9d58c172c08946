import { expect, test } from 'vitest';
import { judge, type Server } from '../../../src/engines/postgres/examine.js';
import { runCommand } from '../../support/command.js';
import { createPrivateKey } from '../../support/sandbox.js';
import { openTemporary, temporaryDatabase } from '../../support/postgres.js';

const SOUND: Server = {
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

const found = (server: Partial<Server>, url = 'postgres://db.example/mirror') =>
  judge(url, { ...SOUND, ...server })
    .slice(1)
    .map(({ state, found: said, todo }) => [state, `${said} ${todo}`]);

test('a server that keeps what it acknowledged has nothing to be told of', () => {
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

test('replicas that nobody waits for are told of, with what a failover can lose', () => {
  expect(found({ replicas: 1 })).toEqual([
    ['warn', expect.stringMatching(/failover.*synchronous_standby_names/)],
  ]);
});

test('a connection that is encrypted and not verified is told of, with what would verify it', () => {
  const said = [['warn', expect.stringMatching(/was not verified .*sslmode=verify-full/)]];
  expect(found({ encrypted: true })).toEqual(said);
  expect(found({ encrypted: true }, 'postgres://db.example/mirror?sslmode=require')).toEqual(said);
});

test('a server that nothing can be written to fails: a standby, and a role that may only read', () => {
  expect(found({ standby: true, read_only: true })).toEqual([
    ['fail', expect.stringMatching(/^the server is a standby: .* answered 503 Name the primary/)],
  ]);
  expect(found({ read_only: true })).toEqual([
    ['fail', expect.stringMatching(/default_transaction_read_only = on: .* let the role write/)],
  ]);
});

test('doctor fails where the database lets nobody write', async () => {
  const database = await temporaryDatabase();
  await openTemporary(database, 1).query(
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

test('doctor asks the server itself, and adds up what the living workers may ask', async () => {
  const database = await temporaryDatabase();
  const postgres = openTemporary(database, 1);
  for (const host of ['one', 'two']) {
    await postgres.query(
      "INSERT INTO inbox.processes (role, host, pid, started_at, seen_at) VALUES ('work', $1, 1, now(), now())",
      [host],
    );
  }
  const env = {
    MIRROR_DATABASE_URL: database.url,
    REGISTRY_BASE_URL: 'http://127.0.0.1:1',
    REGISTRY_APP_ID: 'app-1',
    REGISTRY_PRIVATE_KEY: createPrivateKey(),
    WEBHOOK_SECRETS: 'a webhook secret for tests',
    REGISTRY_REQUESTS_PER_SECOND: '12.5',
  };
  const of = await doctor(env);
  expect(of('databases')[0]?.found).toMatch(/^PostgreSQL \d+.*of which certificates take \d+ MiB$/);
  expect(of('durability').map(({ state }) => state)).toEqual(['fail', 'fail']);
  expect(of('pace').map(finding => finding.found)).toEqual([
    expect.stringContaining('may ask 25 times a second'),
  ]);
});

test("somebody's DATABASE_URL is not used, and doctor says the one line that would", async () => {
  const theirs = 'postgres://somebody:their-password@db.example/theirs';
  const { stdout } = await runCommand(['doctor', '--json'], {
    env: { DATABASE_URL: theirs, DATA_DIR: '/nowhere' },
  });
  expect(stdout).toContain('MIRROR_DATABASE_URL=\\"$DATABASE_URL\\" carbon-mirror up');
  expect(stdout).not.toContain('their-password');
});
