import { expect, test } from 'vitest';
import { amountOf, amountText, readAmount, sameAmount } from '../../src/registry/json/amount.js';
import { readSource } from '../../src/registry/json/fields.js';
import { parseCredit } from '../../src/registry/json/parse.js';

const read = (literal: string) => {
  const text = `{"id":"x","note":"\\"amount\\":7","amount":${literal},"nested":{"amount":8}}`;
  return readAmount(text, readSource(text, 'x').members['amount']);
};

test.each([
  ['9007199254740993', 2 ** 53, null],
  ['9007199254740.993001', Number('9007199254740.993001'), 9007199254740993001n],
  ['9223372036854.775807', Number('9223372036854.775807'), 9223372036854775807n],
  ['9223372036854.775808', Number('9223372036854.775808'), null],
  ['0.1', 0.1, 100_000n],
  ['12.50', 12.5, 12_500_000n],
  ['0.000001', 0.000001, 1n],
  ['0.0000001', 1e-7, null],
  ['1e-6', 1e-6, 1n],
  ['1E3', 1000, 1_000_000_000n],
  ['-0', 0, 0n],
  ['0e99', 0, 0n],
  ['0e999999999', 0, 0n],
  ['-0.0', 0, 0n],
  ['0', 0, 0n],
  ['1e-400', 0, null],
  ['1.000000000000000000', 1, 1_000_000n],
  ['0.123456789012345678', 0.12345678901234568, null],
  ['100e-2', 1, 1_000_000n],
])('T67 %s keeps its digits', (literal, value, micro) => {
  expect(read(literal)).toEqual({ exact: literal, value, micro, fault: null });
});

test('T67 what is written as JSON keeps all digits, and no object of the client throws', () => {
  const literal = '9223372036854.775807';
  const text = `{"id":"c","amount":${literal},"supply":${literal},"note":"\\"supply\\":7"}`;
  const { amount, supply } = JSON.parse(JSON.stringify(parseCredit(readSource(text, 'credit'))));
  expect(amount).toEqual({
    exact: literal,
    value: Number(literal),
    micro: '9223372036854775807',
    fault: null,
  });
  expect(supply).toEqual(amount);
  expect(JSON.parse(JSON.stringify(read('-1')))).toEqual({
    exact: null,
    value: null,
    micro: null,
    fault: 'negative',
  });
});

test.each([
  ['1e400', 'larger than any number'],
  ['-1', 'negative'],
  ['-1e-400', 'negative'],
  ['"1,5"', 'expected a number, came string'],
  ['"2"', 'expected a number, came string'],
  ['null', 'expected a number, came null'],
  ['{}', 'expected a number, came object'],
])('T67 %s is a fault, not an amount', (literal, fault) => {
  expect(read(literal)).toEqual({ exact: null, value: null, micro: null, fault });
});

test('T67 digits without end are a fault too', () => {
  expect(read(`1.${'0'.repeat(1_000)}`)).toMatchObject({ exact: null, fault: 'longer than any number' });
});

test('T67 an amount that is not there is a fault too', () => {
  expect(readAmount('{"nested":{"amount":8}}', undefined).fault).toBe('absent');
});

test.each([
  ['{"amount" : 1.50 }', '1.50'],
  ['{"a":"\\u0022","amount":1.50}', '1.50'],
  ['{"\\u0061mount":1.50,"nested":{"amount":2}}', '1.50'],
  ['{"amount":2,"amount":1.50}', '1.50'],
  ['{"nested":[{"amount":2,"x":"}"}],"amount":1.50}', '1.50'],
  [`{"amount":1.${'0'.repeat(90)}1}`, `1.${'0'.repeat(90)}1`],
])('T67 the digits are those of the outermost amount in %s', (text, digits) => {
  expect(readAmount(text, readSource(text, 'x').members['amount']).exact).toBe(digits);
});

test.each(['1', '0.1', '9007199254740993.123456789012345678', '1e3', 0.1, 1e21, 3])(
  'the amount %s goes out as a JSON number',
  amount => {
    expect(amountText(amount)).toBe(String(amount));
    expect(JSON.parse(amountText(amount))).toBe(Number(amount));
  },
);

test.each([
  '',
  '0',
  '-1',
  '1,5',
  '01',
  '.5',
  '5.',
  '1e',
  'NaN',
  'Infinity',
  '1e400',
  '0x10',
  ' 1',
  '1}',
  0,
  -2,
  NaN,
  Infinity,
])('the amount %j never goes out', amount => {
  expect(() => amountText(amount)).toThrow(expect.objectContaining({ code: 'bad_request' }));
});

test('two texts are one amount when no digit differs', () => {
  expect(sameAmount('1', '1.0')).toBe(true);
  expect(sameAmount('10e-1', '1')).toBe(true);
  expect(sameAmount('0.10', '1e-1')).toBe(true);
  expect(sameAmount('1000', '1e3')).toBe(true);
  expect(sameAmount('9007199254740993', '9007199254740992')).toBe(false);
  expect(sameAmount('0.1', '0.10000000000000001')).toBe(false);
  expect(sameAmount('10', '1')).toBe(false);
});

test('an absurd exponent costs nothing', () => {
  expect(amountOf('1e-999999999').micro).toBeNull();
  expect(amountOf('1e999999999').fault).not.toBeNull();
});

test('T67 what is no number of JSON, or stands in no text, is a fault', () => {
  for (const text of ['', ' 1', '1 ', '0x10', 'Infinity', '1e', '.5'])
    expect(amountOf(text), text).toMatchObject({ exact: null, fault: 'expected a number' });
  expect(readAmount('{}', 5)).toMatchObject({ exact: null, fault: 'expected a number' });
});

test('a number is the same however it is written', () => {
  for (const [one, other] of [
    ['100', '1e2'],
    ['1010', '101e1'],
    ['0', '0.00e5'],
  ] as const)
    expect(sameAmount(one, other), one).toBe(true);
  expect(sameAmount('1010', '110')).toBe(false);
});
