import { expect, test } from 'vitest';
import { describeSchema } from '../../../src/store/contract/describe-schema.js';
import { openForTest, createDatabase } from '../../support/postgres.js';

const LONG: Readonly<Record<string, string>> = { 'timestamp(3) with time zone': 'timestamptz(3)' };

test('the documented column types equal those of the server, in tables and views', async () => {
  const { query } = openForTest(await createDatabase(), 1);
  const columns = await query<{ name: string; type: string }>(
    `SELECT n.nspname || '.' || c.relname || '.' || a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type
     FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname IN ('inbox', 'mirror') AND c.relkind IN ('r', 'v') AND a.attnum > 0 AND NOT a.attisdropped
       AND c.relname <> 'schema_migrations'`,
  );
  const there = columns.map(({ name, type }) => `${name} ${LONG[type] ?? type}`);
  const told = describeSchema('postgres').flatMap(({ database, name, columns: all }) =>
    all.map(column => `${database}.${name}.${column.name} ${column.type}`),
  );
  expect(told.length).toBeGreaterThan(700);
  expect(told.toSorted()).toEqual(there.toSorted());
});
