import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { SqlAccess } from '../../src/console/sql/sql-runner.js';
import { readSavedQueries } from '../../src/cli/saved-queries.js';
import { SqlQueryError } from '../../src/store/contract/sql-query.js';
import { openConsoleStage, getPageText } from '../support/console.js';
import { retirement, retirements } from '../support/mirror/rows.js';
import { listCodeBlocks } from '../support/readme.js';

test('a query is answered as a table and as CSV', async () => {
  const { scene, send } = await openConsoleStage();
  await scene.read('retirements', [retirement('r-1'), retirement('r-2', { beneficiary: 'A, "B"' })]);
  const sql = 'select id, beneficiary from retirements order by id';
  const page = await (await send('/ask', { sql })).text();
  expect(getPageText(page)).toContain('2 rows idbeneficiary r-1Harbour Ferries r-2A, &quot;B&quot;');
  expect(page).toContain(`required>${sql}</textarea>`);
  const csv = await send('/ask', { sql, form: 'csv' });
  expect(csv.headers.get('content-type')).toContain('text/csv');
  expect(await csv.text()).toBe('id,beneficiary\nr-1,Harbour Ferries\nr-2,"A, ""B"""\n');
});

test('the SQL page shows the first rows and says so, and the CSV has all rows', async () => {
  const { scene, send } = await openConsoleStage();
  await scene.read('retirements', retirements(600));
  const sql = 'select id from retirements';
  expect(getPageText(await (await send('/ask', { sql })).text())).toContain('First 500 rows');
  const csv = await (await send('/ask', { sql, form: 'csv' })).text();
  expect(csv.split('\n')).toHaveLength(602);
});

test('the SQL page limits the size of its rows', async () => {
  const { send } = await openConsoleStage();
  const sql = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 20)
    select i, printf('%.*c', 900000, 'x') as x from n`;
  const shown = await (await send('/ask', { sql })).text();
  expect(shown.length).toBeLessThan(8_000_000);
  expect(shown).toContain('First 5 rows; the CSV has all of them');
});

test('a request that is too large or malformed is answered 4xx and not logged', async () => {
  const { send, open, faults } = await openConsoleStage();
  const long = await send('/ask', { sql: 'x'.repeat(200_000) });
  expect([long.status, await long.text()]).toEqual([
    413,
    expect.stringContaining('The request is too large.'),
  ]);
  const odd = await open('/organizations/%E0%A4%A');
  expect([odd.status, await odd.text()]).toEqual([400, expect.stringContaining('could not be read')]);
  expect(faults).toEqual([]);
});

test.each([
  'delete from retirements',
  'select * from nothing',
  'attach database "x" as y',
  'select 1; select 2',
  '',
])(
  'T83 a statement that is not a single read-only query is refused with a sentence and changes nothing: %s',
  async sql => {
    const { scene, send, tables, faults } = await openConsoleStage();
    await scene.read('retirements', [retirement('r-1')]);
    for (const form of ['table', 'csv']) {
      expect(getPageText(await (await send('/ask', { sql, form })).text())).toContain('SQL: ');
    }
    expect(await tables.value('select count(*) from retirements')).toBe(1);
    expect(faults).toEqual([]);
  },
);

test('a request without a query is answered like one with an empty query', async () => {
  const { send } = await openConsoleStage();
  const page = await (await send('/ask')).text();
  expect(page).toContain('required></textarea>');
  expect(getPageText(page)).toContain('SQL: ');
});

test('a link fills in the query form and runs nothing', async () => {
  const asked: string[] = [];
  const { page } = await openConsoleStage({ sql: recordQueries(asked) });
  expect(await page('/ask?sql=select+1')).toContain('required>select 1</textarea>');
  expect(asked).toEqual([]);
});

test('two queries run at a time, and a finished one makes room', async () => {
  const ends: (() => void)[] = [];
  const asking: SqlAccess = {
    ...recordQueries([]),
    runQuery: async () => {
      await new Promise<void>(resolve => ends.push(resolve));
      throw new SqlQueryError('time_limit', 'stopped after 30 s');
    },
  };
  const { send } = await openConsoleStage({ sql: asking });
  const two = [send('/ask', { sql: 'a' }), send('/ask', { sql: 'b' })];
  await expect.poll(() => ends.length).toBe(2);
  expect(await (await send('/ask', { sql: 'c' })).text()).toContain('two queries are already running');
  for (const end of ends.splice(0)) end();
  for (const answer of await Promise.all(two)) expect(await answer.text()).toContain('stopped after 30 s');
  const next = send('/ask', { sql: 'd' });
  await expect.poll(() => ends.length).toBe(1);
  ends[0]?.();
  expect((await next).status).toBe(200);
});

test('T87 an unread answer is cut to make room for another query', async () => {
  async function* endless() {
    for (;;) yield { text: 'x'.repeat(10_000) };
  }
  const access: SqlAccess = {
    ...recordQueries([]),
    runQuery: async ({ sql }) => ({ columns: ['text'], rows: sql === 'much' ? endless() : one() }),
  };
  async function* one() {
    yield { text: 'answered' };
  }
  const { send, clock, faults } = await openConsoleStage({ sql: access });
  const two = [
    await send('/ask', { sql: 'much', form: 'csv' }),
    await send('/ask', { sql: 'much', form: 'csv' }),
  ];
  const isAnswered = async () => (await (await send('/ask', { sql: 'little' })).text()).includes('answered');
  await expect
    .poll(async () => {
      clock.at += 1_000;
      return await isAnswered();
    })
    .toBe(true);
  const gone = new AbortController();
  const ends: string[] = [];
  for (const answer of two)
    void answer.body?.pipeTo(new WritableStream(), { signal: gone.signal }).catch(() => ends.push('cut'));
  await expect.poll(() => ends).toEqual(['cut']);
  gone.abort();
  expect(faults).toEqual([]);
});

test('a query is cancelled when its visitor disconnects', async () => {
  const ends: (() => void)[] = [];
  let ended = 0;
  async function* rows() {
    try {
      yield { answer: 42 };
    } finally {
      ended += 1;
    }
  }
  const asking: SqlAccess = {
    ...recordQueries([]),
    runQuery: async ({ sql }) => {
      if (sql === 'long') await new Promise<void>(resolve => ends.push(resolve));
      return { columns: ['answer'], rows: rows() };
    },
  };
  const { send, page } = await openConsoleStage({ sql: asking });
  const gone = new AbortController();
  const two = [1, 2].map(() => send('/ask', { sql: 'long', form: 'csv' }, gone.signal).catch(() => 'left'));
  await expect.poll(() => ends.length).toBe(2);
  gone.abort();
  expect(await Promise.all(two)).toEqual(['left', 'left']);
  await page('/help');
  for (const end of ends) end();
  await expect.poll(() => ended).toBe(2);
  expect(await (await send('/ask', { sql: 'short', form: 'csv' })).text()).toBe('answer\n42\n');
});

test('the SQL page offers every query of docs/sql.md and the schema', async () => {
  const document = readFileSync(new URL('../../docs/sql.md', import.meta.url), 'utf8');
  const ready = readSavedQueries();
  expect(ready.map(({ sql }) => sql)).toEqual(listCodeBlocks(document, 'sql').map(block => block.trim()));
  for (const { title } of ready) expect(title).toMatch(/^[A-Z].*\?$/);
  const { page, send } = await openConsoleStage();
  const shown = await page('/ask');
  expect(shown).toContain('<code>inbox.deliveries</code>');
  expect(shown).toContain('<code>available_credits</code>');
  for (const { sql } of ready) {
    expect(await (await send('/ask', { sql })).text(), sql).not.toContain('role="alert"');
  }
});

test('T83 values of a query result are escaped', async () => {
  const { send } = await openConsoleStage();
  const shown = await (await send('/ask', { sql: `select '<img src=x>' as "<img>"` })).text();
  expect(shown).not.toContain('<img');
});

function recordQueries(asked: string[]): SqlAccess {
  return {
    runQuery: async ({ sql }) => {
      asked.push(sql);
      throw new SqlQueryError('refused', 'nobody asks here');
    },
    describeSchema: () => [],
    savedQueries: [],
  };
}
