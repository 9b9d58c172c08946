import { describe, expect, it } from 'vitest';
import { parseAmount, isSameAmount } from '../../src/registry/json/amount.js';
import { createRandom, pick } from '../support/random.js';

type Random = () => number;

function createRandomDigits(random: Random, minLength: number, maxLength: number): string {
  const length = minLength + Math.floor(random() * (maxLength - minLength + 1));
  return Array.from({ length }, () => Math.floor(random() * 10)).join('');
}

/** Creates a random JSON number, short or long. */
function createRandomNumberText(random: Random): string {
  const long = random() < 0.2 ? 80 : 12;
  const whole =
    random() < 0.3 ? '0' : `${1 + Math.floor(random() * 9)}${createRandomDigits(random, 0, long)}`;
  const fraction = random() < 0.5 ? '' : `.${createRandomDigits(random, 1, long)}`;
  const exponent =
    random() < 0.7 ? '' : `${pick(random, ['e', 'E', 'e+', 'e-'], 'e')}${createRandomDigits(random, 1, 2)}`;
  return `${random() < 0.1 ? '-' : ''}${whole}${fraction}${exponent}`;
}

const NEIGHBOURS = [
  '"comment":"the \\"amount\\": 7"',
  '"comment":"amount"',
  '"\\u0061mounts":8',
  '"more":{"amount":9}',
  '"list":[{"amount":10},"amount"]',
  '"id":"x"',
];

/** Creates the text of a JSON object with this amount, random spaces and misleading neighbours. */
function createObjectText(random: Random, numberText: string): string {
  const isDense = random() < 0.5;
  const gap = () => (isDense ? '' : pick(random, ['', ' ', '\n\t', ' '.repeat(30), ' '.repeat(70)], ''));
  const name = random() < 0.1 ? '"amoun\\u0074"' : '"amount"';
  const member = `${name}${gap()}:${gap()}${numberText}${gap()}`;
  const before = Array.from({ length: Math.floor(random() * 3) }, () => pick(random, NEIGHBOURS, ''));
  const after = Array.from({ length: Math.floor(random() * 3) }, () => pick(random, NEIGHBOURS, ''));
  return `{${[...before, member, ...after].join(',')}}`;
}

/** Converts the text of a number to millionths, as an exact fraction. */
function toMillionthsFraction(numberText: string): {
  readonly numerator: bigint;
  readonly denominator: bigint;
} {
  const [mantissa = '', exponent = '0'] = numberText.toLowerCase().split('e');
  const [whole = '', decimals = ''] = mantissa.split('.');
  const shift = Number(exponent) - decimals.length + 6;
  const numerator = BigInt(`${whole}${decimals}`);
  return shift >= 0
    ? { numerator: numerator * 10n ** BigInt(shift), denominator: 1n }
    : { numerator, denominator: 10n ** BigInt(-shift) };
}

/** Returns the amount of a JSON object as `JSON.parse` rounds it. */
function getParsedAmount(text: string): unknown {
  const parsed: Readonly<Record<string, unknown>> = JSON.parse(text);
  return parsed['amount'];
}

describe('T67 an amount', () => {
  it('keeps the digits of 20,000 random numbers and counts their millionths without rounding', () => {
    const random = createRandom(67);
    for (let round = 0; round < 20_000; round += 1) {
      const written = createRandomNumberText(random);
      const text = createObjectText(random, written);
      const amount = parseAmount(text, getParsedAmount(text));
      if (
        Number(written) < 0 ||
        (written.startsWith('-') && toMillionthsFraction(written).numerator !== 0n)
      ) {
        expect(amount, text).toMatchObject({ exact: null, fault: 'negative' });
        continue;
      }
      const { numerator, denominator } = toMillionthsFraction(written);
      const isWhole = numerator % denominator === 0n && numerator / denominator < 2n ** 63n;
      expect(amount, text).toEqual({
        exact: written,
        value: Math.abs(Number(written)),
        micro: isWhole ? numerator / denominator : null,
        fault: null,
      });
    }
  });

  it('is the same as another one only if their difference is exactly zero', () => {
    const random = createRandom(68);
    for (let round = 0; round < 5_000; round += 1) {
      const one = createRandomNumberText(random).replace('-', '');
      const shifted = /e/i.test(one) ? one : `${one}e0`;
      const other = random() < 0.5 ? shifted : createRandomNumberText(random).replace('-', '');
      const [a, b] = [toMillionthsFraction(one), toMillionthsFraction(other)];
      expect(isSameAmount(one, other), `${one} ${other}`).toBe(
        a.numerator * b.denominator === b.numerator * a.denominator,
      );
    }
  });
});
