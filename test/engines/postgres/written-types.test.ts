import { expect, test } from 'vitest';
import { MIRROR_TABLES } from '../../../src/engines/contract/mirror-tables.js';
import { writtenTypes } from '../../../src/engines/contract/written-types.js';
import { openTemporary, temporaryDatabase } from '../../support/postgres.js';

const LONG: Readonly<Record<string, string>> = { 'timestamp(3) with time zone': 'timestamptz(3)' };

test('the types that are read from the migrations are those that the server has', async () => {
  const { query } = openTemporary(await temporaryDatabase(), 1);
  const columns = await query<{ name: string; type: string }>(
    `SELECT n.nspname || '.' || c.relname || '.' || a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type
     FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname IN ('inbox', 'mirror') AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
       AND c.relname <> 'schema_migrations'`,
  );
  expect(columns.length).toBeGreaterThan(Object.keys(MIRROR_TABLES).length);
  const there = columns.map(({ name, type }) => `${name} ${LONG[type] ?? type}`);
  expect(Array.from(writtenTypes(), ([name, type]) => `${name} ${type}`).toSorted()).toEqual(
    there.toSorted(),
  );
});
