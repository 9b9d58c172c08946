import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { List } from '../../src/query/lists/list-type.js';
import { ALL_LISTS, findList } from '../../src/query/lists/list-definitions.js';
import type { Reader } from '../../src/store/contract/reader.js';
import { hasColumn, type Row } from '../../src/store/contract/tables.js';
import { type ApiStage, openApi } from '../support/api.js';
import { NOON } from '../support/inbox.js';
import { ENGINES, MINUTE } from '../support/mirror/open.js';
import { fillInboxWithOddRows, fillWithOddRows } from '../support/odd-rows.js';

type Cells = Readonly<Record<string, unknown>>;

/** The time that is left of a reservation changes between two reads. */
const CLOCK_COLUMNS = ['seconds_left'];

function toCellText(value: unknown): string | null {
  if (typeof value === 'bigint' || typeof value === 'number') return value.toString();
  return value === null ? null : typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns cells as comparable text. Integers may be numbers, bigints or texts. */
function toText(columns: readonly string[], row: Cells): string {
  return JSON.stringify(columns.map(name => toCellText(row[name])));
}

function storedColumns({ from, columns }: List): string[] {
  return columns
    .map(({ name }) => name)
    .filter(name => hasColumn(from, name) && !CLOCK_COLUMNS.includes(name));
}

/** Reads columns of a whole table. */
async function readTable(reader: Reader, from: string, columns: readonly string[]): Promise<Row[]> {
  const table = sql.table(from.startsWith('inbox.') ? from : `mirror.${from}`);
  return await reader.all(sql<Row>`SELECT ${sql.join(columns.map(name => sql.ref(name)))} FROM ${table}`);
}

/** Reads all pages of a list. */
async function readPages(api: ApiStage, path: string, limit: number) {
  const rows: Cells[] = [];
  for (let after: string | null = null; ; ) {
    const cursor: string = after === null ? '' : `&after=${after}`;
    const page = await api.getJson(`${path}limit=${limit}${cursor}`);
    rows.push(...page.rows);
    if (page.next === null) return { rows, page };
    after = page.next;
  }
}

describe.each(ENGINES)('$name', ({ library }) => {
  async function openScene() {
    const opened = await library();
    await fillWithOddRows(opened.stage);
    await fillInboxWithOddRows(opened.tables);
    return { ...opened, api: await openApi(opened, { at: NOON + 60 * MINUTE }) };
  }

  test('the pages of each list have the rows of its table, each once', async () => {
    const { api, reader } = await openScene();
    for (const list of ALL_LISTS) {
      const columns = storedColumns(list);
      const stored = await readTable(reader, list.from, columns);
      const expected = stored.map(row => toText(columns, row)).toSorted();
      const { rows, page } = await readPages(api, `/v1/${list.name}?`, 11);
      expect(rows.map(row => toText(columns, row)).toSorted(), list.name).toEqual(expected);
      expect(page.totals.rows, list.name).toBe(expected.length);
      const { totals } = await api.getJson(`/v1/totals?list=${list.name}`);
      expect(totals.rows, list.name).toBe(expected.length);
    }
    expect(api.faults).toEqual([]);
  });

  test('an id returns its rows with all columns of the table', async () => {
    const { api, tables } = await openScene();
    for (const list of ALL_LISTS.filter(({ from, idColumn }) => hasColumn(from, idColumn))) {
      const [row] = await tables.rows(`SELECT * FROM ${list.from} ORDER BY ${list.idColumn} DESC LIMIT 1`);
      // No odd row is an order, because people place orders.
      if (row === undefined && list.entry === null) continue;
      const id = String(row?.[list.idColumn]);
      const columns = Object.keys(row ?? {}).filter(name => !CLOCK_COLUMNS.includes(name));
      const { rows } = await api.getJson(`/v1/${list.name}/${encodeURIComponent(id)}`);
      expect(
        rows.map((each: Cells) => toText(columns, each)),
        `${list.name} ${id}`,
      ).toContain(toText(columns, row ?? {}));
      expect((await api.get(`/v1/${list.name}/999999`)).status).toBe(404);
    }
    expect(api.faults).toEqual([]);
  });

  test('rows as of an instant are those of the history, with gaps', async () => {
    const { api, tables } = await openScene();
    const at = new Date(NOON + 3 * MINUTE).toISOString();
    const { rows, page } = await readPages(
      api,
      `/v1/warehouse?as_of=${at}&organization_id=organization-1&`,
      5,
    );
    const stored = await tables.rows(
      `SELECT credit_id FROM warehouse_credits_history WHERE organization_id = 'organization-1'
        AND valid_from <= ? AND (valid_to IS NULL OR valid_to > ?)`,
      at,
      at,
    );
    const ids = (all: readonly Cells[]) => all.map(row => String(row['credit_id'])).toSorted();
    expect(ids(rows)).toEqual(ids(stored));
    expect(rows.length).toBeGreaterThan(5);
    expect(page).toMatchObject({ as_of: at, coverage: { counted: 1, known: 1 }, freshness: [] });
    const early = await api.getJson('/v1/warehouse?as_of=2020');
    expect(early.rows).toEqual([]);
    expect(early.gaps.length).toBeGreaterThan(0);
    expect(early.caveats).toEqual([expect.objectContaining({ code: 'nothing_known_then' })]);
  });

  test('filters have the names and spellings of the commands', async () => {
    const { api } = await openScene();
    const { rows } = await api.getJson('/v1/warehouse?type=EX-POST');
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(row.type).toBe('exPost');
    const other = await api.getJson('/v1/retirements?beneficiary=nobody%20at%20all');
    expect(other).toMatchObject({ rows: [], caveats: [{ code: 'no_match', filter: 'beneficiary' }] });
    expect(findList('warehouse').filters).toHaveProperty('type');
  });

  test('changes are numbered, and next continues after them', async () => {
    const { api, tables } = await openScene();
    const numbers: number[] = [];
    for (let after = 0; ; ) {
      const page = await api.getJson(`/v1/changes?after=${after}&limit=50`);
      numbers.push(...page.rows.map((row: Cells) => row['number']));
      if (page.next === page.last) break;
      after = page.next;
    }
    expect(numbers).toEqual(await tables.column('SELECT number FROM changes ORDER BY number'));
    expect(api.faults).toEqual([]);
  });

  test('available credits are those of the view, with coverage', async () => {
    const { api, tables } = await openScene();
    const answer = await api.getJson('/v1/available');
    const columns = ['organization_id', 'credit_id', 'amount_micro'];
    const stored = await tables.rows(
      `SELECT organization_id, credit_id, amount_micro FROM warehouse_sums WHERE organization_id IN
        (SELECT organization_id FROM freshness WHERE resource = 'warehouse' AND state = 'fresh')`,
    );
    expect(answer.rows.map((row: Cells) => toText(columns, row)).toSorted()).toEqual(
      stored.map(row => toText(columns, row)).toSorted(),
    );
    expect(answer.coverage.known).toBeGreaterThan(0);
    expect(await api.getJson('/v1/status')).toHaveProperty('organizations');
  });
});
