import { expect, test } from 'vitest';
import { runCommand } from '../../support/command.js';
import { createDatabase, getSharedDatabase } from '../../support/postgres.js';

function address(user: string, database: string): string {
  const { host, searchParams } = new URL(getSharedDatabase().url);
  return `postgres://${user}:very-secret-word@${host}/${database}?${searchParams.toString()}`;
}

const NO_SCHEMA = 'a database without our schema';
const FAULTS: readonly (readonly [what: string, url: () => string, exitCode: number, said: RegExp])[] = [
  [
    'a user unknown to the server',
    () => address('nobody_of_that_name', 'postgres'),
    4,
    /^PostgreSQL refuses: role "nobody_of_that_name" does not exist\./,
  ],
  [
    'a missing database',
    () => address('postgres', 'no_such_database'),
    2,
    /^database "no_such_database" does not exist\. Make it, or name another/,
  ],
  [
    'an unreachable server',
    () => 'postgres://postgres@127.0.0.1:1/postgres',
    5,
    /^PostgreSQL cannot be used now: /,
  ],
  [NO_SCHEMA, () => getSharedDatabase().url, 2, /carbon-mirror migrate/],
];

/** The query role gets the same message. */
test('T69 T88 a refused QUERY_DATABASE_URL is reported in one sentence without its password', async () => {
  const { url } = await createDatabase();
  const env = { MIRROR_DATABASE_URL: url, QUERY_DATABASE_URL: address('nobody_of_that_name', 'postgres') };
  const outcome = await runCommand(['query', 'select 1'], { env });
  expect(outcome).toMatchObject({ exitCode: 4, stdout: '' });
  expect(outcome.stderr).toMatch(/^PostgreSQL refuses: role "nobody_of_that_name".*QUERY_DATABASE_URL/);
  expect(outcome.stderr).not.toMatch(/very-secret-word|\n\s+at /);
});

const COMMANDS = [['status'], ['migrate'], ['query', 'select 1'], ['changes']];

test.each(FAULTS.flatMap(fault => COMMANDS.map(words => [...fault, words] as const)))(
  'T69 %s is reported in one sentence without the password and without a stack',
  async (what, url, exitCode, said, words) => {
    if (what === NO_SCHEMA && words[0] !== 'status') return;
    const env = { MIRROR_DATABASE_URL: url(), REGISTRY_BASE_URL: 'https://registry.example' };
    const outcome = await runCommand(words, { env });
    expect(outcome).toMatchObject({ exitCode, stdout: '' });
    expect(outcome.stderr).toMatch(said);
    expect(outcome.stderr).not.toMatch(/very-secret-word|\n\s+at /);
  },
);
