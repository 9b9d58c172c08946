import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../../src/store/sqlite/open.js';
import { createWorks, databaseOn, inParts } from '../../../src/store/sqlite/database.js';
import { fixed, statement } from '../../../src/store/statement.js';
import { temporaryMirror } from '../../support/mirror/open.js';

const COUNTER = fixed<{ last: number }>('SELECT last FROM mirror.version_counter');
const SET = statement<{ last: number }>('UPDATE mirror.version_counter SET last = @last');

test('transactions of one connection are done one after the other, and who looks sees none half done', async () => {
  const { look, transact } = databaseOn(temporaryMirror());
  const raise = () =>
    transact(async batch => {
      const [[counter]] = await batch(COUNTER);
      await batch(SET({ last: -1 }));
      await batch(SET({ last: (counter?.last ?? 0) + 1 }));
    });
  const raised = [raise(), raise(), raise()];
  expect(await look(COUNTER)).toEqual([[{ last: 3 }]]);
  await Promise.all(raised);
});

test('what fails is undone, and the next transaction begins', async () => {
  const { look, transact } = databaseOn(temporaryMirror());
  const failed = transact(async batch => {
    await batch(SET({ last: 7 }));
    throw new Error('planted');
  });
  await expect(failed).rejects.toThrow('planted');
  expect(await look(COUNTER)).toEqual([[{ last: 0 }]]);
  await transact(batch => batch(SET({ last: 9 })));
  expect(await look(COUNTER)).toEqual([[{ last: 9 }]]);
});

test('many rows go in messages of few, each answer to its own statement', async () => {
  const works = createWorks(temporaryMirror());
  const sizes: number[] = [];
  const send = inParts(async all => {
    sizes.push(Math.max(...all.map(each => each?.rows?.length ?? 0)));
    return works.send(all);
  });
  const rows = Array.from({ length: 450 }, (_, n) => ['organization-1', `project-${n}`]);
  const text = 'INSERT INTO project_references VALUES (?, ?)';
  const count = { text: 'SELECT count(*) AS rows FROM project_references', values: [] };
  const answers = await send([count, { text, values: [], rows }, count]);
  works.end(true);
  expect(sizes).toEqual([200, 200, 50]);
  expect(answers).toEqual([[{ rows: 0 }], [], [{ rows: 450 }]]);
});

test('a value that was forgotten is no NULL', async () => {
  const { transact } = databaseOn(temporaryMirror());
  const given: { last: number } = Object.assign(Object.create(null), { other: 1 });
  await expect(transact(batch => batch(SET(given)))).rejects.toThrow('"last"');
});

test('who waits for a lock leaves this thread to whoever holds it', async () => {
  const db = temporaryMirror();
  const other = openDatabase(db.name, { busyTimeoutMs: 5_000 });
  onTestFinished(() => void other.close());
  const [one, two] = [databaseOn(db), databaseOn(other)];
  const slow = one.transact(async batch => {
    await batch(SET({ last: 1 }));
    await delay(50);
  });
  await Promise.all([slow, two.transact(batch => batch(SET({ last: 2 })))]);
  expect(await one.look(COUNTER)).toEqual([[{ last: 2 }]]);
});
