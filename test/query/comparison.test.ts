import { expect, test } from 'vitest';
import { collectRows } from '../../src/query/answer/answer.js';
import { describeCompleteness, describeUnknown } from '../../src/query/answer/describe-notes.js';
import { toJson } from '../../src/query/answer/serialize.js';
import { ALL_COMPARED_ROWS, COMPARABLE_LISTS, compareList } from '../../src/query/history/comparison.js';
import { serializeComparisons } from '../../src/query/history/describe-comparison.js';
import { findList } from '../../src/query/lists/list-definitions.js';
import { askList } from '../support/ask-list.js';
import { ENGINES, openFilledMirror, writeInstallation } from '../support/mirror/open.js';
import { amount, credit, organization, retirement } from '../support/mirror/rows.js';
import { createRandom } from '../support/random.js';

type Filled = Awaited<ReturnType<typeof openFilledMirror>>;

const ALL_GONE = { findGone: async (ids: readonly string[]) => ids };
const formatInstant = (at: number) => new Date(at).toISOString();

interface Question {
  readonly list?: string;
  readonly organizationId?: string | null;
  readonly from: string;
  readonly to: string;
  readonly range?: typeof ALL_COMPARED_ROWS;
}

async function compare(
  { reader }: Filled,
  { list = 'warehouse', organizationId = null, range = ALL_COMPARED_ROWS, ...instants }: Question,
) {
  return await reader.inSnapshot(async snapshot => {
    const answer = await compareList(snapshot, { list: findList(list), organizationId, ...instants }, range);
    return { ...answer, rows: await collectRows(answer.rows) };
  });
}

/** Returns the instant of the mirror's clock, and moves the clock on. */
function takeInstant({ clock }: Filled): string {
  const instant = formatInstant(clock.at);
  clock.at += 1_000;
  return instant;
}

/** The credits that organization 2 has in every mirror of these tests. */
const KEPT = 'c-2-0';
const REMOVED = 'c-2-1';
const OWNER = { organizationId: 'organization-2' };
const held = (id: string, overrides: Parameters<typeof credit>[1] = {}) => {
  const serialization = `ICR-ISL-2-${id.at(-1)}-14-R-0-2021`;
  return credit(id, { ...OWNER, serialization, ...overrides });
};

/** Fills a mirror in which a credit of organization 2 was added, one was changed and one was removed between two instants. */
async function openChangedMirror() {
  const filled = await openFilledMirror({ organizations: 2 });
  const from = takeInstant(filled);
  const added = credit('c-new', { ...OWNER, type: 'exAnte', amount: amount('7.25') });
  await filled.read('warehouse', [held(KEPT, { amount: amount('99.5') }), added], { ...OWNER, ...ALL_GONE });
  return { filled, from, to: takeInstant(filled) };
}

type ReadComparison = Awaited<ReturnType<typeof compare>>;

function pickCells({ rows }: ReadComparison, ...names: readonly string[]) {
  return rows.map(row => names.map(name => row[name]));
}

/** Checks that the totals at the earlier instant and the differences add up to those at the later one. */
function expectBalanced({ from, to, counts, amounts, totals, rows }: ReadComparison) {
  expect(from.totals.rows + counts.added - counts.removed).toBe(to.totals.rows);
  for (const sum of amounts) expect(sum.from + sum.added + sum.changed + sum.removed).toBe(sum.to);
  expect(totals.rows).toBe(rows.length);
}

test('a comparison has the rows that were added, changed or removed, with tonnes before and after', async () => {
  const { filled, from, to } = await openChangedMirror();
  const answer = await compare(filled, { from, to });
  expect(
    pickCells(answer, 'change', 'credit_id', 'amount_before', 'amount_after', 'difference', 'fields'),
  ).toEqual([
    ['added', 'c-new', null, '7.25', '7.25', null],
    ['changed', KEPT, '100', '99.5', '-0.5', 'amount'],
    ['removed', REMOVED, '100', null, '-100', null],
  ]);
  expect(answer.rows[2]).toMatchObject({
    organization_id: 'organization-2',
    organization_name: 'Organization 2',
    project_name: 'Peat bog',
    inventory_id: '',
  });
  expect(answer).toMatchObject({
    at: to,
    counts: { added: 1, changed: 1, removed: 1 },
    coverage: { counted: 2, known: 2, missing: 0 },
    gaps: [],
    caveats: [],
    next: null,
  });
  expect(answer.amounts).toEqual([
    {
      type: 'exPost',
      from: 300_000_000n,
      added: 0n,
      changed: -500_000n,
      removed: -100_000_000n,
      to: 199_500_000n,
    },
    { type: 'exAnte', from: 0n, added: 7_250_000n, changed: 0n, removed: 0n, to: 7_250_000n },
  ]);
  expect(answer.totals.amounts).toEqual([
    { type: 'exPost', amountMicro: -100_500_000n },
    { type: 'exAnte', amountMicro: 7_250_000n },
  ]);
  expectBalanced(answer);
});

test('a comparison names each restated field of a retirement with its values before and after', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const from = takeInstant(filled);
  await filled.read('retirements', [retirement('r-1-0', { amount: amount('10'), beneficiary: null })]);
  const answer = await compare(filled, { list: 'retirements', from, to: takeInstant(filled) });
  expect(pickCells(answer, 'id', 'fields', 'old_values', 'new_values', 'difference')).toEqual([
    ['r-1-0', 'amount; beneficiary', '12.5; Harbour Ferries', '10; nothing', '-2.5'],
  ]);
  expectBalanced(answer);
});

test('a changed type takes the amount from one type and adds it to the other', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  const from = takeInstant(filled);
  await filled.read('warehouse', [held(KEPT, { type: 'exAnte' }), held(REMOVED)], OWNER);
  const answer = await compare(filled, { from, to: takeInstant(filled) });
  expect(answer.amounts.map(({ type, changed }) => [type, changed])).toEqual([
    ['exPost', -100_000_000n],
    ['exAnte', 100_000_000n],
  ]);
  expect(answer.counts).toEqual({ added: 0, changed: 1, removed: 0 });
  expectBalanced(answer);
});

test('a row that was changed or removed and is as before again does not differ', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  const from = takeInstant(filled);
  for (const items of [[held(KEPT, { amount: amount('1') })], [held(KEPT)], [held(KEPT), held(REMOVED)]]) {
    await filled.read('warehouse', items, { ...OWNER, ...ALL_GONE });
    filled.clock.at += 1_000;
  }
  const answer = await compare(filled, { from, to: takeInstant(filled) });
  expect(answer).toMatchObject({ rows: [], counts: { added: 0, changed: 0, removed: 0 } });
  expect(answer.empty).toBe('No credits in the warehouses differ.');
  expectBalanced(answer);
});

test('a row of which only the document differs is changed', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  const from = takeInstant(filled);
  const document = held(KEPT).document.replace('{', '{"note":"new",');
  await filled.read('warehouse', [held(KEPT, { document }), held(REMOVED)], OWNER);
  const answer = await compare(filled, { from, to: takeInstant(filled) });
  expect(pickCells(answer, 'change', 'fields', 'old_values', 'difference')).toEqual([
    ['changed', 'document', null, '0'],
  ]);
});

test('an organization whose list was not readable at one of the instants is a gap, and none of its rows are gone or added', async () => {
  const { filled, from, to } = await openChangedMirror();
  const onlyOrganization1 = {
    rows: [],
    coverage: { counted: 1, known: 2, missing: 1 },
    caveats: [{ code: 'not_compared', organizations: 1 }],
  };
  const setState = async (change: string) =>
    await filled.tables.change(
      `UPDATE resource_states SET ${change} WHERE organization_id = 'organization-2' AND resource = 'warehouse'`,
    );
  await setState(`as_of = '${from}', no_permission_at = '${from}'`);
  const lost = await compare(filled, { from, to });
  expect(lost).toMatchObject({
    ...onlyOrganization1,
    gaps: [{ organizationId: 'organization-2', reason: { code: 'no_longer_readable', lastReadAt: from } }],
    from: { gaps: [], totals: { rows: 1, amounts: [{ type: 'exPost', amountMicro: 100_000_000n }] } },
    to: { gaps: [{ organizationName: 'Organization 2' }], totals: { rows: 1 } },
  });
  expect(describeCompleteness(lost)).toEqual([
    'Covers 1 of the 2 known organizations.',
    'Not compared, and in no total: 1 organization whose list was not known at both dates.',
  ]);
  await setState(`no_permission_at = NULL, first_complete_at = '${to}'`);
  expect(await compare(filled, { from, to })).toMatchObject({
    ...onlyOrganization1,
    gaps: [{ organizationId: 'organization-2', reason: { code: 'before_first_read', firstReadEndedAt: to } }],
    from: { gaps: [{ organizationName: 'Organization 2' }] },
    to: { gaps: [] },
  });
});

test('an organization that removed the app is a gap after its last read, and nothing of it is gone', async () => {
  const { filled, from, to } = await openChangedMirror();
  await writeInstallation(filled, 2, { state: 'uninstalled', claim: 2 });
  const later = formatInstant((filled.clock.at += 60_000));
  expect(await compare(filled, { from, to: later })).toMatchObject({
    rows: [],
    coverage: { counted: 1, known: 2, missing: 1 },
    to: { gaps: [{ organizationId: 'organization-2', reason: { code: 'no_longer_readable' } }] },
  });
  expect(await compare(filled, { from, to })).toMatchObject({ counts: { added: 1, changed: 1, removed: 1 } });
});

test('nothing differs between an instant and itself', async () => {
  const { filled, from } = await openChangedMirror();
  const answer = await compare(filled, { from, to: from });
  expect(answer).toMatchObject({
    rows: [],
    totals: { rows: 0, amounts: [{ type: 'exPost', amountMicro: 0n }] },
    empty: `Both dates are ${from}, so no credits in the warehouses differ.`,
  });
});

test('nothing is compared before the first complete read', async () => {
  const { filled, to } = await openChangedMirror();
  const answer = await compare(filled, { from: '2020-01-01T00:00:00.000Z', to });
  expect(answer).toMatchObject({
    rows: [],
    coverage: { counted: 0, known: 2, missing: 2 },
    caveats: [{ code: 'nothing_compared', organizations: 2, knownFrom: expect.any(String) }],
  });
  expect(answer.from.gaps.map(({ reason }) => reason.code)).toEqual([
    'before_first_read',
    'before_first_read',
  ]);
  expect(answer.to).toMatchObject({ gaps: [], totals: { rows: 0 } });
  expect(describeUnknown(answer)).toMatch(
    /^No organization has a list that was known at both dates\. The first instant that can be compared is .*Z\.$/,
  );
});

test('a comparison can be limited to one organization, and read in pages', async () => {
  const { filled, from, to } = await openChangedMirror();
  const whole = await compare(filled, { from, to, organizationId: 'organization-2' });
  expect(whole).toMatchObject({
    coverage: { counted: 1, known: 1 },
    counts: { added: 1, changed: 1, removed: 1 },
  });
  expect(await compare(filled, { from, to, organizationId: 'organization-1' })).toMatchObject({ rows: [] });
  const pages: unknown[] = [];
  for (let after: ReadComparison['next'] = null; ; ) {
    const page = await compare(filled, { from, to, range: { limit: 1, after } });
    expect(page.caveats).toEqual(after === null ? [{ code: 'limited', rows: 1 }] : []);
    pages.push(...page.rows);
    after = page.next;
    if (after === null) break;
  }
  expect(pages).toEqual(whole.rows);
});

test('every list with a history that belongs to organizations can be compared', async () => {
  const { filled, from, to } = await openChangedMirror();
  expect(COMPARABLE_LISTS.map(({ name }) => name)).toEqual([
    'organizations',
    'members',
    'addresses',
    'warehouse',
    'inventory',
    'retirements',
    'reservations',
    'inventory-requests',
    'certificates',
  ]);
  for (const { name } of COMPARABLE_LISTS)
    expect(await compare(filled, { list: name, from, to })).toMatchObject({ at: to });
  await filled.read('organization', [organization('organization-1', { fullName: 'Renamed' })]);
  const renamed = await compare(filled, { list: 'organizations', from, to: takeInstant(filled) });
  expect(pickCells(renamed, 'change', 'full_name', 'fields', 'old_values', 'new_values')).toEqual([
    ['changed', 'Renamed', 'full_name', 'Organization 1', 'Renamed'],
  ]);
  expect(renamed).toMatchObject({ amounts: [], totals: { amounts: null } });
});

test('compared retirements are in the order of their dates, on pages too', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  const from = takeInstant(filled);
  const dated = (id: string, createdAt: string) => retirement(id, { ...OWNER, createdAt });
  const added = [
    dated('r-a', '2026-03-03T10:00:00.000Z'),
    dated('r-b', '2026-03-05T10:00:00.000Z'),
    dated('r-c', '2026-03-04T10:00:00.000Z'),
  ];
  await filled.read('retirements', [retirement('r-2-0', OWNER), ...added], { ...OWNER, ...ALL_GONE });
  const question = { list: 'retirements', from, to: takeInstant(filled) };
  const whole = await compare(filled, question);
  const ids = pickCells({ ...whole, rows: whole.rows.filter(row => row['change'] === 'added') }, 'id');
  expect(ids).toEqual([['r-a'], ['r-c'], ['r-b']]);
  const paged: unknown[] = [];
  let after: (typeof ALL_COMPARED_ROWS)['after'] = null;
  do {
    const page: ReadComparison = await compare(filled, { ...question, range: { limit: 1, after } });
    paged.push(...page.rows);
    after = page.next;
  } while (after !== null);
  expect(paged).toEqual(whole.rows);
});

test('a comparison of random instants has exactly the rows that differ between the lists as of both', async () => {
  const random = createRandom(7);
  const filled = await openFilledMirror({ organizations: 2 });
  const instants = [takeInstant(filled)];
  for (let turn = 0; turn < 6; turn++) {
    const items = ['a', 'b', 'c', 'd', 'e']
      .filter(() => random() < 0.6)
      .map(id =>
        held(`c-${id}`, {
          amount: amount(String(Math.floor(random() * 3))),
          type: random() < 0.5 ? 'exPost' : 'exAnte',
        }),
      );
    await filled.read('warehouse', items, { ...OWNER, ...ALL_GONE });
    instants.push(takeInstant(filled));
  }
  const readStock = async (at: string) => {
    const { rows } = await askList(filled, findList('warehouse'), { at });
    return new Map(
      rows.map(row => [String(row['credit_id']), `${String(row['amount_exact'])} ${String(row['type'])}`]),
    );
  };
  for (const [index, from] of instants.entries())
    for (const to of instants.slice(index)) {
      const answer = await compare(filled, { from, to });
      const [before, after] = [await readStock(from), await readStock(to)];
      const expected = [...new Set([...before.keys(), ...after.keys()])].flatMap(id => {
        if (before.get(id) === after.get(id)) return [];
        return [`${before.has(id) ? (after.has(id) ? 'changed' : 'removed') : 'added'} ${id}`];
      });
      expect(answer.rows.map(row => `${String(row['change'])} ${String(row['credit_id'])}`)).toEqual(
        expected.toSorted(),
      );
      expectBalanced(answer);
    }
});

test('a comparison finds the versions of both instants with an index, and pairs them by grouping', async () => {
  const { filled, from, to } = await openChangedMirror();
  if (ENGINES[0]?.name !== 'SQLite') return;
  const { sql } = await compare(filled, { from, to });
  const steps = await filled.tables.rows<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
  const details = steps.map(({ detail }) => detail);
  expect(details.filter(detail => /^(SCAN|SEARCH) (p|warehouse_credits)\b/.test(detail))).toEqual([
    'SEARCH p USING INDEX past_by_key (resource=? AND organization_id=?)',
    expect.stringMatching(/^SEARCH warehouse_credits USING INDEX .*\(organization_id=\?\)$/),
    'SEARCH p USING INDEX past_by_key (resource=? AND organization_id=?)',
    expect.stringMatching(/^SEARCH warehouse_credits USING INDEX .*\(organization_id=\?\)$/),
    // The names of the organizations, once for all rows.
    'SEARCH p USING INDEX past_by_key (resource=?)',
  ]);
  expect(details.filter(detail => detail.includes('LEFT-JOIN'))).toEqual([
    expect.stringMatching(/^SEARCH owners USING AUTOMATIC /),
  ]);
});

test('comparisons of several lists are one JSON object with a field for each list', async () => {
  const { filled, from, to } = await openChangedMirror();
  const text = await filled.reader.inSnapshot(async snapshot => {
    const answers = await Promise.all(
      ['warehouse', 'retirements'].map(
        async list =>
          await compareList(
            snapshot,
            { list: findList(list), organizationId: null, from, to },
            ALL_COMPARED_ROWS,
          ),
      ),
    );
    const parts: string[] = [];
    for await (const part of serializeComparisons({ from_at: from, to_at: to }, answers, toJson))
      parts.push(part);
    return parts.join('');
  });
  expect(JSON.parse(text)).toMatchObject({
    from_at: from,
    to_at: to,
    warehouse: { rows: expect.any(Array), differences: { added: 1, changed: 1, removed: 1 } },
    retirements: { rows: [], differences: { added: 0, changed: 0, removed: 0 } },
  });
});
