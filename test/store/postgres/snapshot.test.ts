import { join } from 'node:path';
import { expect, test } from 'vitest';
import { snapshot } from '../../../src/store/postgres/snapshot.js';
import type { Postgres } from '../../../src/store/postgres/open-postgres.js';
import { temporaryFolder } from '../../support/inbox.js';
import { openForTest, createDatabase } from '../../support/postgres.js';
import { openTablesOfFile } from '../../support/tables.js';

const AT = '2026-05-04T12:00:00.000Z';
const PUT = "INSERT INTO mirror.project_references VALUES ('organization-1', $1)";

test('a snapshot shows one moment, whatever is written while it is made', async () => {
  const postgres = openForTest(await createDatabase());
  await postgres.query(PUT, ['before']);
  let meanwhile = 0;
  const watched: Postgres = {
    ...postgres,
    transact: work =>
      postgres.transact((query, send) =>
        work(async (sql, given) => {
          if (sql.startsWith('CLOSE')) await postgres.query(PUT, [`meanwhile-${(meanwhile += 1)}`]);
          return await query(sql, given);
        }, send),
      ),
  };
  const file = join(temporaryFolder(), 'copy.db');
  expect(await snapshot(watched, file, AT)).toBe(true);
  expect(meanwhile).toBeGreaterThan(20);
  const copied = await openTablesOfFile(file).column('SELECT project_id FROM project_references');
  expect(copied).toEqual(['before']);
});
