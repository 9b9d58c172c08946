import { join } from 'node:path';
import { CompiledQuery } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { openReader } from '../../../src/store/sqlite/reader.js';
import { temporaryFolder, temporaryInbox } from '../../support/inbox.js';
import { temporaryMirror } from '../../support/mirror.js';

test('words stand in the statement, so that an index of one state is found; what a person wrote is bound', async () => {
  const folder = temporaryFolder();
  temporaryMirror(folder);
  temporaryInbox(folder);
  const reader = openReader({ mirrorFile: join(folder, 'mirror.db'), inboxFile: join(folder, 'inbox.db') });
  onTestFinished(() => reader.close());
  const { db } = reader;
  const jobs = db.selectFrom('inbox.jobs').select('id');
  const asked = jobs.where('state', '=', 'paused').where('run_at', '<=', "x' OR '1").compile();
  expect(asked.sql).toContain(`"state" = 'paused' and "run_at" <= ?`);
  expect(asked.parameters).toEqual(["x' OR '1"]);
  const plan = await db.executeQuery(
    CompiledQuery.raw(`EXPLAIN QUERY PLAN ${asked.sql}`, [...asked.parameters]),
  );
  expect(plan.rows).toMatchObject([{ detail: expect.stringContaining('USING COVERING INDEX jobs_paused') }]);
});
