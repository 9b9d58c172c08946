import { sql } from 'kysely';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openReadOnly } from '../../../src/store/sqlite/open-read-only.js';
import { compile, createReader, openReader } from '../../../src/store/sqlite/reader.js';
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

/** Opens a reader of an empty mirror. `listPrepared` returns the SQL texts that were prepared since its last call. */
function openWatchedReader() {
  const folder = temporaryFolder();
  temporaryMirror(folder);
  temporaryInbox(folder);
  const db = openReadOnly({ mirrorFile: join(folder, 'mirror.db'), inboxFile: join(folder, 'inbox.db') });
  onTestFinished(() => void db.close());
  const prepare = vi.spyOn(db, 'prepare');
  const listPrepared = () => {
    const texts = prepare.mock.calls.map(([text]) => text);
    prepare.mockClear();
    return texts;
  };
  return { reader: createReader(db), listPrepared };
}

const add = (left: number, right: number) => sql<{ sum: number }>`SELECT ${left} + ${right} AS sum`;

test('a query with other values is not prepared again while it is among the last hundred', async () => {
  const { reader, listPrepared } = openWatchedReader();
  expect(await reader.all(add(1, 2))).toEqual([{ sum: 3 }]);
  expect(await reader.all(add(3, 4))).toEqual([{ sum: 7 }]);
  expect(listPrepared()).toEqual(['SELECT ? + ? AS sum']);
  const runOthers = async (count: number) => {
    for (let n = 0; n < count; n += 1) await reader.all(sql`SELECT ${sql.lit(n)} AS number`);
  };
  await runOthers(99);
  await reader.all(add(1, 2));
  expect(listPrepared()).toHaveLength(99);
  await runOthers(100);
  listPrepared();
  await reader.all(add(1, 2));
  expect(listPrepared()).toEqual(['SELECT ? + ? AS sum']);
});

test('a query can run while rows of the same query are being read', async () => {
  const { reader } = openWatchedReader();
  const numbers = sql<{ number: number }>`SELECT value AS number FROM json_each(${'[1,2,3]'})`;
  const read: number[] = [];
  for await (const { number } of reader.stream(numbers)) {
    expect(await reader.all(numbers)).toHaveLength(3);
    for await (const inner of reader.stream(numbers)) read.push(number * inner.number);
  }
  expect(read).toEqual([1, 2, 3, 2, 4, 6, 3, 6, 9]);
});
