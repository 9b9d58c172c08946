import { describe, expect, test } from 'vitest';
import type { Reader } from '../../src/store/contract/reader.js';
import { ENGINES, type Engine } from '../support/engines.js';

const SUM = `INSERT INTO certificate_sums VALUES ('o-1', 'stored', 9007199254740993), ('o-2', 'stored', 7)`;
const REJECTED_WEBHOOKS = `INSERT INTO inbox.rejected_webhooks VALUES
  ('2026-05-04T12:00', 'no_signature', 401, '', 3, '2026-05-04T12:00:01.000Z'),
  ('2026-05-04T12:01', 'no_signature', 401, '', 4, '2026-05-04T12:01:01.000Z')`;

async function open(library: Engine['library']) {
  const { reader, tables } = await library();
  await tables.change(SUM);
  await tables.change(REJECTED_WEBHOOKS);
  return { reader, tables };
}

describe.each(ENGINES)('$name', ({ library }) => {
  test('one reader asks the mirror and the inbox', async () => {
    const { db } = (await open(library)).reader;
    expect(
      await db.selectFrom('inbox.rejected_webhooks').select('rejected').orderBy('minute').execute(),
    ).toEqual([{ rejected: 3 }, { rejected: 4 }]);
  });

  test('an integer is a number where one holds it, else every digit of it is kept', async () => {
    const { db } = (await open(library)).reader;
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
    const { db } = (await open(library)).reader;
    const many = db.selectFrom('certificate_sums as a').innerJoin('certificate_sums as b', on => on.onTrue());
    for await (const row of many.select('a.state').stream(1)) {
      expect(row).toEqual({ state: 'stored' });
      break;
    }
  });

  test('any number of values may be asked for', async () => {
    const { db, say } = (await open(library)).reader;
    const numbers = Array.from({ length: 100_000 }, (_, n) => n);
    const asked = db.selectFrom('certificate_sums').select('organization_id');
    for (const values of [numbers, [7]]) {
      expect(await asked.where('certificates', 'in', say.each(values)).execute()).toEqual([
        { organization_id: 'o-2' },
      ]);
    }
    expect(await asked.where('certificates', 'in', say.each([])).execute()).toEqual([]);
  });

  test('what is asked for in one snapshot was true at one moment', async () => {
    const { reader, tables } = await open(library);
    const count = async (db: Reader['db']) => {
      const asked = db.selectFrom('certificate_sums').select('certificates');
      return await asked.where('organization_id', '=', 'o-2').executeTakeFirst();
    };
    await reader.db.transaction().execute(async snapshot => {
      expect(await count(snapshot)).toEqual({ certificates: 7 });
      await tables.change('UPDATE certificate_sums SET certificates = 8');
      expect(await count(snapshot)).toEqual({ certificates: 7 });
    });
    expect(await count(reader.db)).toEqual({ certificates: 8 });
  });

  test('a reader writes nothing', async () => {
    const { db } = (await open(library)).reader;
    const written = db.deleteFrom('inbox.rejected_webhooks').returning('minute').execute();
    await expect(written).rejects.toThrow(/readonly|read-only/);
  });
});
