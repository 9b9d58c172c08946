import { describe, expect, test } from 'vitest';
import { ENGINES } from '../support/mirror/open.js';
import { amount, credit, installation, retirement } from '../support/mirror/rows.js';

/** Cases in which the two engines differ silently unless a test compares them. */
describe.each(ENGINES)('$name', ({ stage }) => {
  test.each([
    '0000-03-01T00:00:00.000Z',
    '0001-01-01T00:00:00.000Z',
    '1582-10-10T12:00:00.000Z',
    '2026-03-29T02:30:00.123Z',
    '9999-12-31T23:59:59.999Z',
    null,
  ])('the time %s is stored as it was read', async kept => {
    const { db, read } = await stage();
    await read('retirements', [retirement('r-1', { createdAt: kept })]);
    expect(await db.column('SELECT created_at FROM retirements')).toEqual([kept]);
    const month = kept?.slice(0, 7) ?? null;
    expect(await db.column('SELECT month FROM retirements_by_month')).toEqual([month]);
  });

  test('the port of the mirror has at most 25 operations', async () => {
    expect(Object.keys((await stage()).port).length).toBeLessThanOrEqual(25);
  });

  test('queries without keys or ids return empty results, not null', async () => {
    const { port } = await stage();
    const list = { organizationId: 'organization-1', resource: 'retirements' } as const;
    expect(await port.findRows(list, [])).toEqual([]);
    expect(await port.findRows(list, [['r-2']])).toEqual([]);
    expect((await port.readMirrorState()).forgotten).toEqual(new Set());
    expect(await port.listKnownResources([])).toEqual(new Map());
    expect((await port.listKnownResources(['nobody'])).get('nobody') ?? []).toEqual([]);
  });

  test('texts are ordered by code point, in queries and in scans of a list', async () => {
    const { db, port, read } = await stage();
    const ids = ['Zebra', 'a', 'aa', 'a-b', 'ab', 'B', 'å', 'ä', '10', '9', '\u{1f33f}', '\uffee'];
    await read(
      'retirements',
      ids.map(id => retirement(id, { beneficiary: id })),
    );
    const sorted = ids.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
    expect(await db.column('SELECT beneficiary FROM retirements ORDER BY beneficiary')).toEqual(sorted);
    const list = { organizationId: 'organization-1', resource: 'retirements' } as const;
    const first = await port.listRowsAfter(list, null, 5);
    const rest = await port.listRowsAfter(list, first.at(-1)?.key ?? [], 100);
    expect([...first, ...rest].map(({ key }) => key)).toEqual(sorted.map(id => [id]));
  });

  test('booleans are stored as 1 and 0, and as null if none was sent', async () => {
    const { db, read } = await stage();
    await read(
      'retirements',
      ([true, false, null] as const).map((isClaimed, index) => retirement(`r-${index}`, { isClaimed })),
    );
    expect(await db.column('SELECT is_claimed FROM retirements ORDER BY id')).toEqual([1, 0, null]);
    expect(await db.value('SELECT count(*) FROM retirements WHERE is_claimed = 1')).toBe(1);
  });

  test('64-bit integers keep every digit, exact amounts stay as sent, and there is no negative zero', async () => {
    const { db, read } = await stage();
    const huge = { exact: '9223372036854', value: 9223372036854, micro: 9223372036854000000n, fault: null };
    const minus = { exact: '-0', value: -0, micro: 0n, fault: null };
    const amounts = [huge, amount('0.1'), minus, { ...amount('1000'), exact: '1E3' }];
    await read(
      'warehouse',
      amounts.map((each, index) => credit(`c-${index}`, { amount: each })),
    );
    const rows = await db.rows(
      'SELECT amount, amount_exact, CAST(amount_micro AS TEXT) AS micro FROM warehouse_credits ORDER BY credit_id',
    );
    expect(rows).toEqual([
      { amount: 9223372036854, amount_exact: '9223372036854', micro: '9223372036854000000' },
      { amount: 0.1, amount_exact: '0.1', micro: '100000' },
      { amount: 0, amount_exact: '-0', micro: '0' },
      { amount: 1000, amount_exact: '1E3', micro: '1000000000' },
    ]);
  });

  test('installations without an organization are unique by their ids', async () => {
    const { db, mirror, clock, port } = await stage();
    const look = {
      claim: 1,
      startedAt: clock.at,
      arrivedAt: clock.at,
      trigger: 'schedule',
      state: 'active',
    } as const;
    for (const id of ['installation-8', 'installation-9', 'installation-9']) {
      await mirror.writeInstallation({ ...look, installation: installation(id, { organizationId: null }) });
    }
    expect(await db.column('SELECT id FROM installations WHERE organization_id IS NULL ORDER BY id')).toEqual(
      ['installation-8', 'installation-9'],
    );
    expect(await port.listInstallations('installation-9')).toMatchObject([{ organizationId: null }]);
  });

  test('text with NUL, lone surrogates, quotes or backslashes stays readable, and documents stay as sent', async () => {
    const { db, read } = await stage();
    const document = String.raw`{"a":"\u0000 \ud83d","b":"{\"c\\d\"}", "b": 1.50}`;
    const beneficiary = `a\0b \ud83d c\\d "e" {f,NULL} 'g'`;
    await read('retirements', [retirement('r-1', { document, beneficiary })]);
    expect(await db.rows('SELECT document, beneficiary FROM retirements')).toEqual([
      { document, beneficiary: `a\uFFFDb \uFFFD c\\d "e" {f,NULL} 'g'` },
    ]);
    expect(await db.column('SELECT beneficiary FROM retirements_by_beneficiary')).toEqual([
      `a\uFFFDb \uFFFD c\\d "e" {f,NULL} 'g'`,
    ]);
  });
});
