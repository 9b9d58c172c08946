import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Postgres } from '../../../src/store/postgres/open-postgres.js';
import { createReader } from '../../../src/store/postgres/reader.js';
import { STREAM_CHUNK_ROWS } from '../../../src/store/contract/reader.js';
import { takeEmptyDatabase, openDatabase, openWithRole } from '../../support/postgres.js';

const ROWS = 1050;

/** A reader, and how many rows each of its statements brought. */
async function open() {
  const database = await takeEmptyDatabase();
  const owner = openDatabase(database);
  const granted = await openWithRole(owner, database, 'read');
  const brought: number[] = [];
  const watched: Postgres = {
    ...granted,
    begin: async modes => {
      const transaction = await granted.begin(modes);
      return {
        ...transaction,
        query: async (text, values) => {
          const rows = await transaction.query<never>(text, values);
          brought.push(rows.length);
          return rows;
        },
      };
    },
  };
  return { owner, granted, reader: createReader(watched), brought };
}

test('rows are streamed in groups and show one moment, however many there are', async () => {
  const { owner, reader, brought } = await open();
  await owner.query(
    `INSERT INTO mirror.project_references SELECT 'o-1', 'p-' || n FROM generate_series(1, ${ROWS}) AS s (n)`,
  );
  let rows = 0;
  const asked = sql<{ project_id: string }>`SELECT * FROM mirror.project_references
    WHERE organization_id = ${'o-1'}`;
  for await (const { project_id: id } of reader.stream(asked)) {
    if (rows === 0) await owner.query('DELETE FROM mirror.project_references');
    rows += id.length > 0 ? 1 : 0;
  }
  expect(rows).toBe(ROWS);
  expect(Math.max(...brought)).toBe(STREAM_CHUNK_ROWS);
});

test('the read role can read every table and view, and nothing else', async () => {
  const { owner, granted } = await open();
  const relations = await owner.query<{ name: string }>(
    `SELECT table_schema || '.' || table_name AS name FROM information_schema.tables
     WHERE table_schema IN ('inbox', 'mirror')`,
  );
  expect(relations.length).toBeGreaterThan(50);
  for (const { name } of relations) await granted.query(`SELECT * FROM ${name} LIMIT 1`);
  for (const statement of ['DELETE FROM inbox.jobs', 'UPDATE mirror.origin SET app_id = app_id']) {
    await expect(granted.query(statement), statement).rejects.toThrow('permission denied');
  }
});

test('ignored deliveries are counted without reading accepted ones', async () => {
  const { owner, reader } = await open();
  await owner.query(
    `INSERT INTO inbox.deliveries (received_at, signed_text_sha256, stored_text_id, verdict, ignored_reason, secret_index)
     SELECT now(), '', n, CASE WHEN n % 1000 = 0 THEN 'ignored' ELSE 'accepted' END, CASE WHEN n % 1000 = 0 THEN 'other_app' END, 0
     FROM generate_series(1, ${10 * ROWS}) AS s (n)`,
  );
  await owner.query('ANALYZE inbox.deliveries');
  const plan = await reader.all(
    sql`EXPLAIN SELECT count(*) FROM inbox.deliveries WHERE verdict = ${'ignored'}`,
  );
  expect(JSON.stringify(plan)).toContain('deliveries_ignored');
});
