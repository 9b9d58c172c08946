import { expect, test } from 'vitest';
import { createAmount, formatAmount, parseAmount, isSameAmount } from '../../src/registry/json/amount.js';
import { parseObject } from '../../src/registry/json/json-object.js';
import { parseCredit } from '../../src/registry/json/parse-objects.js';

const readLiteral = (literal: string) => {
  const text = `{"id":"x","note":"\\"amount\\":7","amount":${literal},"nested":{"amount":8}}`;
  return parseAmount(text, parseObject(text, 'x').members['amount']);
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
])('T67 the amount %s keeps its digits', (literal, value, micro) => {
  expect(readLiteral(literal)).toEqual({ exact: literal, value, micro, fault: null });
});

test('T67 amounts keep all digits when an object is written as JSON', () => {
  const literal = '9223372036854.775807';
  const text = `{"id":"c","amount":${literal},"supply":${literal},"note":"\\"supply\\":7"}`;
  const { amount, supply } = JSON.parse(JSON.stringify(parseCredit(parseObject(text, 'credit'))));
  expect(amount).toEqual({
    exact: literal,
    value: Number(literal),
    micro: '9223372036854775807',
    fault: null,
  });
  expect(supply).toEqual(amount);
  expect(JSON.parse(JSON.stringify(readLiteral('-1')))).toEqual({
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
  ['"1,5"', 'expected a number, got string'],
  ['"2"', 'expected a number, got string'],
  ['null', 'expected a number, got null'],
  ['{}', 'expected a number, got object'],
])('T67 the number %s has a fault instead of an amount', (literal, fault) => {
  expect(readLiteral(literal)).toEqual({ exact: null, value: null, micro: null, fault });
});

test('T67 a number of more than 1,000 digits has a fault', () => {
  expect(readLiteral(`1.${'0'.repeat(1_000)}`)).toMatchObject({
    exact: null,
    fault: 'longer than any number',
  });
});

test('T67 a missing amount has a fault', () => {
  expect(parseAmount('{"nested":{"amount":8}}', undefined).fault).toBe('absent');
});

test.each([
  ['{"amount" : 1.50 }', '1.50'],
  ['{"a":"\\u0022","amount":1.50}', '1.50'],
  ['{"\\u0061mount":1.50,"nested":{"amount":2}}', '1.50'],
  ['{"amount":2,"amount":1.50}', '1.50'],
  ['{"nested":[{"amount":2,"x":"}"}],"amount":1.50}', '1.50'],
  [`{"amount":1.${'0'.repeat(90)}1}`, `1.${'0'.repeat(90)}1`],
])('T67 the digits are those of the outermost amount in %s', (text, digits) => {
  expect(parseAmount(text, parseObject(text, 'x').members['amount']).exact).toBe(digits);
});

test.each(['1', '0.1', '9007199254740993.123456789012345678', '1e3', 0.1, 1e21, 3])(
  'the amount %s is sent as a JSON number',
  amount => {
    expect(formatAmount(amount)).toBe(String(amount));
    expect(JSON.parse(formatAmount(amount))).toBe(Number(amount));
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
])('the amount %j is refused before it is sent', amount => {
  expect(() => formatAmount(amount)).toThrow(expect.objectContaining({ code: 'bad_request' }));
});

test.each([
  ['1', '1.0', true],
  ['10e-1', '1', true],
  ['0.10', '1e-1', true],
  ['1000', '1e3', true],
  ['100', '1e2', true],
  ['1010', '101e1', true],
  ['0', '0.00e5', true],
  ['9007199254740993', '9007199254740992', false],
  ['0.1', '0.10000000000000001', false],
  ['10', '1', false],
  ['1010', '110', false],
])('%s and %s are the same amount only if they are exactly equal: %s', (one, other, isSame) => {
  expect(isSameAmount(one, other)).toBe(isSame);
});

test('an amount with a huge exponent is parsed quickly', () => {
  expect(createAmount('1e-999999999').micro).toBeNull();
  expect(createAmount('1e999999999').fault).not.toBeNull();
});

test('T67 a text that is not a JSON number, or an object without the amount in its text, has a fault', () => {
  for (const text of ['', ' 1', '1 ', '0x10', 'Infinity', '1e', '.5'])
    expect(createAmount(text), text).toMatchObject({ exact: null, fault: 'expected a number' });
  expect(parseAmount('{}', 5)).toMatchObject({ exact: null, fault: 'expected a number' });
});
