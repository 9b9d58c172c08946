import { sql } from 'kysely';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { compile, openReader } from '../../../src/store/sqlite/reader.js';
import { temporaryFolder, temporaryInbox } from '../../support/inbox.js';
import { temporaryMirror } from '../../support/mirror/open.js';

test('plain words are inlined, so that partial indexes are used, and all other values are bound', async () => {
  const folder = temporaryFolder();
  temporaryMirror(folder);
  temporaryInbox(folder);
  const reader = openReader({ mirrorFile: join(folder, 'mirror.db'), inboxFile: join(folder, 'inbox.db') });
  onTestFinished(() => reader.close());
  const jobs = sql`SELECT id FROM inbox.jobs WHERE state = ${'paused'} AND run_at <= ${"x' OR '1"}`;
  expect(compile(jobs)).toEqual({
    text: "SELECT id FROM inbox.jobs WHERE state = 'paused' AND run_at <= ?",
    values: ["x' OR '1"],
  });
  expect(await reader.all(sql`EXPLAIN QUERY PLAN ${jobs}`)).toMatchObject([
    { detail: expect.stringContaining('USING COVERING INDEX jobs_paused') },
  ]);
});
