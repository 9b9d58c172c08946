import { expect, test } from 'vitest';
import { toReadableText } from '../../src/resources/sql-values.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';
import { openMirror } from '../support/mirror/open.js';

test('lone surrogates and NULs in text are replaced by U+FFFD', () => {
  expect(toReadableText('Ærø \u{1f33f} 水')).toBe('Ærø \u{1f33f} 水');
  expect(toReadableText('a\0b')).toBe('a\uFFFDb');
  expect(toReadableText('half \ud83d of one')).toBe('half \uFFFD of one');
});

test('T60 SQL in names is stored unchanged', async () => {
  const { db, read } = await openMirror();
  const beneficiary = `Robert'); DROP TABLE retirements;-- "x" ? @id`;
  await read('retirements', [retirement('r-1', { beneficiary, comment: `'; --` })], { limit: 10 });
  expect(await db.row('SELECT beneficiary, comment FROM retirements')).toEqual({
    beneficiary,
    comment: `'; --`,
  });
  expect(await db.value('SELECT beneficiary FROM retirements_by_beneficiary')).toBe(beneficiary);
});

test('T67 amounts keep their digits, sums are exact, and rows that cannot be summed are counted', async () => {
  const { db, read } = await openMirror();
  const faulty = { exact: '1,5', value: null, micro: null, fault: 'not a number' };
  const huge = { exact: '9223372036854', value: 9223372036854, micro: 9223372036854000000n, fault: null };
  const fine = { exact: '0.000000000000000001', value: 1e-18, micro: null, fault: null };
  const amounts = [amount('0.1'), amount('0.2'), amount('9007199254.740993'), faulty, fine, huge, huge];
  await read(
    'warehouse',
    amounts.map((each, index) => credit('c-1', { inventoryId: `i-${index}`, amount: each })),
  );
  await read(
    'retirements',
    amounts.map((each, index) => retirement(`r-${index}`, { amount: each })),
    { limit: 10 },
  );
  const rows = await db.rows(
    'SELECT amount_exact, CAST(amount_micro AS TEXT) AS micro, fault FROM warehouse_credits ORDER BY inventory_id',
  );
  expect(rows).toEqual(
    amounts.map(({ exact, micro, fault }) => ({
      amount_exact: exact,
      micro: micro?.toString() ?? null,
      fault,
    })),
  );
  const tonnes = 0.1 + 0.2 + 9007199254.740993 + 2 * 9223372036854;
  for (const view of ['warehouse_sums', 'retirements_by_month', 'retirements_by_beneficiary']) {
    expect(await db.row(`SELECT amount, amount_micro, rows, rows_without_amount FROM ${view}`)).toEqual({
      amount: expect.closeTo(tonnes, -1),
      amount_micro: null,
      rows: 7,
      rows_without_amount: 2,
    });
  }
  await db.change("DELETE FROM warehouse_credits WHERE inventory_id > 'i-2'");
  await read(
    'warehouse',
    amounts.slice(0, 3).map((each, index) => credit('c-1', { inventoryId: `i-${index}`, amount: each })),
  );
  expect(await db.value('SELECT CAST(amount_micro AS TEXT) FROM warehouse_sums')).toBe('9007199255040993');
});

test('a missing vintage is taken from the year at the end of the serialization', async () => {
  const { db, read } = await openMirror();
  await read('warehouse', [
    credit('c-1'),
    credit('c-2', { vintage: '2019' }),
    credit('c-3', { serialization: 'odd' }),
    credit('c-4', { serialization: 'ICR-ISL-354-1-14-R-0-2021-2' }),
  ]);
  expect(await db.column('SELECT vintage FROM warehouse_credits ORDER BY credit_id')).toEqual([
    '2021',
    '2019',
    null,
    null,
  ]);
});
