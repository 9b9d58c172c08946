import { expect, test } from 'vitest';
import { assertMigrated, migrate } from '../../../src/store/postgres/migrate.js';
import { listMigrations } from '../../../src/store/migrations.js';
import { openForTest, createDatabase } from '../../support/postgres.js';

const NOW = '2026-05-04T12:00:00.000Z';
const DATABASE_NAMES = ['inbox', 'mirror', 'evidence', 'events'] as const;
const ALL = DATABASE_NAMES.flatMap(schema =>
  listMigrations('postgres', schema).map(({ name }) => `${schema}/${name}`),
);

test('a failed migration leaves nothing behind', async () => {
  const postgres = openForTest(await createDatabase({ migrated: false }));
  const broken = { version: 1, name: '0001-broken.sql', sql: 'CREATE TABLE inbox.half (); SELECT 1 / 0' };
  await expect(migrate(postgres, NOW, () => [broken])).rejects.toThrow('division by zero');
  expect(await postgres.query("SELECT nspname FROM pg_namespace WHERE nspname = 'inbox'")).toEqual([]);
  expect(await migrate(postgres, NOW)).toEqual(ALL);
});

test('a newer schema is refused, and an older one is refused with the advice to migrate', async () => {
  const postgres = openForTest(await createDatabase());
  await assertMigrated(postgres, 'mirror');
  const known = listMigrations('postgres', 'mirror').length;
  await postgres.query("INSERT INTO mirror.schema_migrations VALUES ($1, 'later.sql', $2, '')", [
    known + 1,
    NOW,
  ]);
  const refusal = {
    code: 'newer',
    message: expect.stringContaining(`this program knows only ${known}: it was written by a newer`),
  };
  await expect(assertMigrated(postgres, 'mirror')).rejects.toMatchObject(refusal);
  await expect(migrate(postgres, NOW)).rejects.toMatchObject(refusal);
  const empty = openForTest(await createDatabase({ migrated: false }));
  await expect(assertMigrated(empty, 'mirror')).rejects.toThrow('run "carbon-mirror migrate" first');
});

const EARLIER = [
  "ALTER TABLE mirror.schema_migrations DROP COLUMN digest; INSERT INTO mirror.schema_migrations VALUES (2, 'balance.sql', now())",
  "UPDATE mirror.schema_migrations SET digest = 'of another text'",
];

test.each(EARLIER)(
  'a schema of an earlier program is refused in one sentence and left unchanged: %s',
  async as => {
    const postgres = openForTest(await createDatabase());
    await postgres.query(as);
    const refusal = {
      code: 'earlier',
      message: expect.stringContaining('drop or rename the schemas inbox, mirror, evidence and events'),
    };
    await expect(migrate(postgres, NOW)).rejects.toMatchObject(refusal);
    await expect(assertMigrated(postgres, 'mirror')).rejects.toMatchObject(refusal);
  },
);

test.each([
  'CREATE TABLE mirror.schema_migrations (version text)',
  'CREATE VIEW mirror.glass AS SELECT 1 AS one',
])('a schema of another program is refused and left unchanged: %s', async theirs => {
  const postgres = openForTest(await createDatabase({ migrated: false }));
  await postgres.query('CREATE SCHEMA mirror');
  await postgres.query(theirs);
  await expect(migrate(postgres, NOW)).rejects.toMatchObject({ code: 'foreign' });
  await expect(assertMigrated(postgres, 'mirror')).rejects.toMatchObject({ code: 'foreign' });
  expect(await postgres.query("SELECT nspname FROM pg_namespace WHERE nspname = 'inbox'")).toEqual([]);
});

test('if one schema is newer than the program, the others are not created either', async () => {
  const postgres = openForTest(await createDatabase());
  await postgres.query('DROP SCHEMA inbox CASCADE');
  await postgres.query("INSERT INTO mirror.schema_migrations VALUES (1000, 'later.sql', $1, '')", [NOW]);
  await expect(migrate(postgres, NOW)).rejects.toMatchObject({ code: 'newer' });
  expect(await postgres.query("SELECT nspname FROM pg_namespace WHERE nspname = 'inbox'")).toEqual([]);
});

test('an empty schema that already exists is used', async () => {
  const postgres = openForTest(await createDatabase({ migrated: false }));
  await postgres.query('CREATE SCHEMA mirror');
  expect(await migrate(postgres, NOW)).toEqual(ALL);
});

test('a database with an encoding other than UTF8 is refused', async () => {
  const latin = await createDatabase({ migrated: false, options: "ENCODING 'LATIN1'" });
  await expect(migrate(openForTest(latin), NOW)).rejects.toMatchObject({ code: 'encoding' });
});

test('migrations create nothing outside the four schemas', async () => {
  const postgres = openForTest(await createDatabase());
  const made = await postgres.query(
    `SELECT DISTINCT n.nspname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE c.oid >= 16384 AND n.nspname NOT LIKE 'pg\\_toast%' ORDER BY 1`,
  );
  expect(made).toEqual(DATABASE_NAMES.toSorted().map(nspname => ({ nspname })));
  const applied = DATABASE_NAMES.flatMap(schema => listMigrations('postgres', schema).map(({ sql }) => sql));
  expect(applied.join('\n')).not.toMatch(/EXTENSION/i);
});
