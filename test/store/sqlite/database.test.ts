import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../../src/store/sqlite/open-database.js';
import {
  createStatementRunner,
  createDatabaseOn,
  splitLargeInserts,
} from '../../../src/store/sqlite/database.js';
import { type Params, prepared } from '../../../src/store/sql/prepared.js';
import { temporaryMirror } from '../../support/mirror/open.js';

const COUNTER = prepared(({ db }) => db.selectFrom('mirror.version_counter').select('last'))();
const SET = prepared(({ db }, { last }: Params<{ readonly last: number }>) =>
  db.updateTable('mirror.version_counter').set({ last }),
);

test('transactions of one connection run one after the other, and a reader sees none half done', async () => {
  const { read, transact } = createDatabaseOn(temporaryMirror());
  const raise = () =>
    transact(async batch => {
      const [[counter]] = await batch(COUNTER);
      await batch(SET({ last: -1 }));
      await batch(SET({ last: (counter?.last ?? 0) + 1 }));
    });
  const raised = [raise(), raise(), raise()];
  expect(await read(COUNTER)).toEqual([[{ last: 3 }]]);
  await Promise.all(raised);
});

test('a failed transaction is rolled back, and the next one begins', async () => {
  const { read, transact } = createDatabaseOn(temporaryMirror());
  const failed = transact(async batch => {
    await batch(SET({ last: 7 }));
    throw new Error('planted');
  });
  await expect(failed).rejects.toThrow('planted');
  expect(await read(COUNTER)).toEqual([[{ last: 0 }]]);
  await transact(batch => batch(SET({ last: 9 })));
  expect(await read(COUNTER)).toEqual([[{ last: 9 }]]);
});

test('many statements are sent in small messages, and each gets its own result', async () => {
  const works = createStatementRunner(temporaryMirror());
  const sizes: number[] = [];
  const send = splitLargeInserts(async all => {
    sizes.push(Math.max(...all.map(each => each?.rows?.length ?? 0)));
    return works.runInTransaction(all);
  });
  const rows = Array.from({ length: 450 }, (_, n) => ['organization-1', `project-${n}`]);
  const text = 'INSERT INTO project_references VALUES (?, ?)';
  const count = { text: 'SELECT count(*) AS rows FROM project_references', values: [] };
  const answers = await send([count, { text, values: [], rows }, count]);
  works.endTransaction(true);
  expect(sizes).toEqual([200, 200, 50]);
  expect(answers).toEqual([[{ rows: 0 }], [], [{ rows: 450 }]]);
});

test('a missing value is refused instead of stored as NULL', async () => {
  const { transact } = createDatabaseOn(temporaryMirror());
  const given: { last: number } = Object.assign(Object.create(null), { other: 1 });
  await expect(transact(batch => batch(SET(given)))).rejects.toThrow('"last"');
});

test('waiting for a lock does not block the thread of its holder', async () => {
  const db = temporaryMirror();
  const other = openDatabase(db.name, { busyTimeoutMs: 5_000 });
  onTestFinished(() => void other.close());
  const [one, two] = [createDatabaseOn(db), createDatabaseOn(other)];
  const slow = one.transact(async batch => {
    await batch(SET({ last: 1 }));
    await delay(50);
  });
  await Promise.all([slow, two.transact(batch => batch(SET({ last: 2 })))]);
  expect(await one.read(COUNTER)).toEqual([[{ last: 2 }]]);
});
