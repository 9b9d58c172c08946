import { expect, test } from 'vitest';
import { findAmountShortage, parseTypedAmount } from '../../src/text/tonnes.js';
import { formatReservationCommands } from '../../src/text/reservation-commands.js';

test.each([
  ['2.5', 2_500_000n],
  [' 12 ', 12_000_000n],
  ['0.000001', 1n],
  ['1234567890123.5', 1_234_567_890_123_500_000n],
])('%j is an amount', (text, micro) => {
  expect(parseTypedAmount(text)).toEqual({ amount: text.trim(), micro });
});

test.each([
  ['2,5', 'write 2.5.'],
  ['2.5 t', 'write 2.5.'],
  ['1 234.5', 'write 1234.5.'],
  ['1,234', 'write 1234 or 1.234.'],
  ['1.234,5', 'write 1234.5.'],
  ['1,234.5', 'write 1234.5.'],
  ['12,345,678', 'write 12345678.'],
  ['', 'such as 2.5.'],
  ['2,1234567', 'such as 2.5, got “2,1234567”.'],
  ['.234,5', 'such as 2.5, got “.234,5”.'],
  ['all', 'such as 2.5, got “all”.'],
  ['-2', 'such as 2.5'],
  ['2e3', 'such as 2.5'],
  ['0', 'more than 0 t.'],
  ['0.0000001', 'at most six decimals'],
  ['007', 'such as 2.5'],
  ['1'.repeat(30), 'such as 2.5'],
])('%j is refused with what to write instead', (text, words) => {
  expect(parseTypedAmount(text)).toEqual({ fault: expect.stringContaining(words) });
});

test('a shortage says how much is left', () => {
  expect(findAmountShortage(15_560_000n, 15_550_000n)).toBe('Only 15.55 t are available.');
  expect(findAmountShortage(15_550_000n, 15_550_000n)).toBeNull();
});

test('the commands at a credit quote what a shell would interpret', () => {
  const [create, finish] = formatReservationCommands({
    organizationId: 'o-1',
    creditId: "0xab c'd$(rm)",
    amount: '2.5',
  });
  expect(create).toBe(
    String.raw`carbon-mirror reservations create --organization o-1 --credit-id '0xab c'\''d$(rm)' --amount 2.5`,
  );
  expect(finish).toMatch(
    /^carbon-mirror reservations finish RESERVATION --organization o-1 --action retire /,
  );
});
