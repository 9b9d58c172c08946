import { join } from 'node:path';
import { CompiledQuery } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import type { OpenReader, Reader } from '../../../src/engines/contract/reader.js';
import { openReader } from '../../../src/engines/sqlite/reader.js';
import { temporaryFolder, temporaryInbox } from '../../support/inbox.js';
import { temporaryMirror } from '../../support/mirror.js';

const SUM = `INSERT INTO certificate_sums VALUES ('o-1', 'stored', 9007199254740993), ('o-2', 'stored', 7)`;
const REFUSALS = `INSERT INTO refusals VALUES
  ('2026-05-04T12:00', 'no_signature', 401, '', 3, '2026-05-04T12:00:01.000Z'),
  ('2026-05-04T12:01', 'no_signature', 401, '', 4, '2026-05-04T12:01:01.000Z')`;

function open() {
  const folder = temporaryFolder();
  const mirror = temporaryMirror(folder);
  mirror.exec(SUM);
  const inbox = temporaryInbox(folder);
  inbox.exec(REFUSALS);
  const reader: OpenReader = openReader({
    mirrorFile: join(folder, 'mirror.db'),
    inboxFile: join(folder, 'inbox.db'),
  });
  onTestFinished(() => reader.close());
  return { reader, mirror };
}

test('one reader asks the mirror and the inbox', async () => {
  const { db } = open().reader;
  expect(await db.selectFrom('inbox.refusals').select('posts').orderBy('minute').execute()).toEqual([
    { posts: 3 },
    { posts: 4 },
  ]);
});

test('an integer is a number where one holds it, else every digit of it is kept', async () => {
  const { db } = open().reader;
  const asked = db.selectFrom('certificate_sums').selectAll().orderBy('organization_id');
  const expected = [
    { organization_id: 'o-1', state: 'stored', certificates: 9007199254740993n },
    { organization_id: 'o-2', state: 'stored', certificates: 7 },
  ];
  expect(await asked.execute()).toEqual(expected);
  const streamed = [];
  for await (const row of asked.stream(100)) streamed.push(row);
  expect(streamed).toEqual(expected);
});

test('rows come as they are read: who stops early leaves nothing open', async () => {
  const { db } = open().reader;
  const many = db.selectFrom('certificate_sums as a').innerJoin('certificate_sums as b', on => on.onTrue());
  for await (const row of many.select('a.state').stream(1)) {
    expect(row).toEqual({ state: 'stored' });
    break;
  }
});

test('any number of values may be asked for', async () => {
  const { db, say } = open().reader;
  const ids = Array.from({ length: 100_000 }, (_, n) => `o-${n}`);
  const asked = db.selectFrom('certificate_sums').select('organization_id').orderBy('organization_id');
  expect(await asked.where('organization_id', 'in', say.each(ids)).execute()).toHaveLength(2);
  expect(await asked.where('organization_id', 'in', say.each(['o-2'])).execute()).toEqual([
    { organization_id: 'o-2' },
  ]);
  expect(await asked.where('organization_id', 'in', say.each<string>([])).execute()).toEqual([]);
});

test('what is asked for in one snapshot was true at one moment', async () => {
  const { reader, mirror } = open();
  const count = async (db: Reader['db']) => {
    const asked = db.selectFrom('certificate_sums').select('certificates');
    return await asked.where('organization_id', '=', 'o-2').executeTakeFirst();
  };
  await reader.db.transaction().execute(async snapshot => {
    expect(await count(snapshot)).toEqual({ certificates: 7 });
    mirror.exec('UPDATE certificate_sums SET certificates = 8');
    expect(await count(snapshot)).toEqual({ certificates: 7 });
  });
  expect(await count(reader.db)).toEqual({ certificates: 8 });
});

test('a reader writes nothing', async () => {
  const { db } = open().reader;
  const written = db.deleteFrom('inbox.refusals').returning('minute').execute();
  await expect(written).rejects.toThrow('readonly');
});

test('words stand in the statement, so that an index of one state is found; what a person wrote is bound', async () => {
  const { db } = open().reader;
  const jobs = db.selectFrom('inbox.jobs').select('id');
  const asked = jobs.where('state', '=', 'parked').where('run_at', '<=', "x' OR '1").compile();
  expect(asked.sql).toContain(`"state" = 'parked' and "run_at" <= ?`);
  expect(asked.parameters).toEqual(["x' OR '1"]);
  const plan = await db.executeQuery(
    CompiledQuery.raw(`EXPLAIN QUERY PLAN ${asked.sql}`, [...asked.parameters]),
  );
  expect(plan.rows).toMatchObject([{ detail: expect.stringContaining('USING COVERING INDEX jobs_parked') }]);
});
