import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Reader } from '../../src/store/contract/reader.js';
import { ENGINES, type TestEngine } from '../support/mirror/open.js';

const SUM = `INSERT INTO certificate_sums VALUES ('o-1', 'stored', 9007199254740993), ('o-2', 'stored', 7)`;
const SUMS = sql.table('mirror.certificate_sums');
const REJECTED_WEBHOOKS = `INSERT INTO inbox.rejected_webhooks VALUES
  ('2026-05-04T12:00', 'no_signature', 401, '', 3, '2026-05-04T12:00:01.000Z'),
  ('2026-05-04T12:01', 'no_signature', 401, '', 4, '2026-05-04T12:01:01.000Z')`;

async function openReader(library: TestEngine['library']) {
  const { reader, tables } = await library();
  await tables.change(SUM);
  await tables.change(REJECTED_WEBHOOKS);
  return { reader, tables };
}

describe.each(ENGINES)('$name', ({ library }) => {
  test('one reader can query the mirror and the inbox', async () => {
    const { reader } = await openReader(library);
    expect(await reader.all(sql`SELECT rejected FROM inbox.rejected_webhooks ORDER BY minute`)).toEqual([
      { rejected: 3 },
      { rejected: 4 },
    ]);
  });

  test('an integer is a number if that is exact, else a bigint', async () => {
    const { reader } = await openReader(library);
    const asked = sql`SELECT * FROM ${SUMS} ORDER BY organization_id`;
    const expected = [
      { organization_id: 'o-1', state: 'stored', certificates: 9007199254740993n },
      { organization_id: 'o-2', state: 'stored', certificates: 7 },
    ];
    expect(await reader.all(asked)).toEqual(expected);
    const streamed = [];
    for await (const row of reader.stream(asked)) streamed.push(row);
    expect(streamed).toEqual(expected);
  });

  test('a stream of rows that is left early leaves nothing open', async () => {
    const { reader } = await openReader(library);
    for await (const row of reader.stream(sql`SELECT a.state FROM ${SUMS} AS a, ${SUMS} AS b`)) {
      expect(row).toEqual({ state: 'stored' });
      break;
    }
  });

  test('a query may contain any number of values', async () => {
    const { reader } = await openReader(library);
    const numbers = Array.from({ length: 100_000 }, (_, n) => n);
    const asked = (values: readonly number[]) =>
      reader.all(sql`SELECT organization_id FROM ${SUMS} WHERE certificates IN ${values}`);
    for (const values of [numbers, [7]]) expect(await asked(values)).toEqual([{ organization_id: 'o-2' }]);
    expect(await asked([])).toEqual([]);
  });

  test('all queries of a snapshot see the same moment', async () => {
    const { reader, tables } = await openReader(library);
    const count = async ({ all }: Reader) =>
      await all(sql`SELECT certificates FROM ${SUMS} WHERE organization_id = ${'o-2'}`);
    await reader.inSnapshot(async snapshot => {
      expect(await count(snapshot)).toEqual([{ certificates: 7 }]);
      await tables.change('UPDATE certificate_sums SET certificates = 8');
      expect(await snapshot.inSnapshot(count)).toEqual([{ certificates: 7 }]);
    });
    expect(await count(reader)).toEqual([{ certificates: 8 }]);
  });

  test.each([
    [[3, 5], '(3, 5)'],
    [[], '(NULL)'],
  ])('the formatted text of a query has the same result: %j', async (values, list) => {
    const { reader } = await openReader(library);
    const asked = sql`SELECT minute FROM inbox.rejected_webhooks
      WHERE reason <> ${"o'clock"} AND rejected IN ${values}`;
    const said = reader.formatQuery(asked);
    expect(said).toContain(`reason <> 'o''clock' AND rejected IN ${list}`);
    expect(await reader.all(sql.raw(said))).toEqual(await reader.all(asked));
  });

  test('the formatted text of a query contains its values unchanged, even a value with a schema name', async () => {
    const { reader, tables } = await openReader(library);
    await tables.change("INSERT INTO certificate_sums VALUES ('mirror.co.uk', 'inbox.evidence.', 1)");
    const asked = sql`SELECT certificates FROM ${SUMS}
      WHERE organization_id = ${'mirror.co.uk'} AND state = ${'inbox.evidence.'}`;
    const shown = reader.formatQuery(asked);
    expect(shown).toContain("organization_id = 'mirror.co.uk' AND state = 'inbox.evidence.'");
    expect(await tables.rows(shown)).toEqual([{ certificates: 1 }]);
    expect(await reader.all(asked)).toEqual([{ certificates: 1 }]);
  });

  test('a reader cannot write', async () => {
    const { reader } = await openReader(library);
    const written = reader.all(sql`DELETE FROM inbox.rejected_webhooks RETURNING minute`);
    await expect(written).rejects.toThrow(/readonly|read-only/);
  });
});
