import { RegistryError } from '../errors.js';
import { memberText } from './json-text.js';
import type { Amount } from '../model.js';

/** Digits as text, or a number whose digits are its own. */
export type AmountInput = string | number;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const MAX_MICRO = 2n ** 63n - 1n;
/** Millionths: an amount of tonnes is counted in grams. */
const MICRO_DIGITS = 6;
const COMMA = 0x2c;
const POINT = 0x2e;
const CLOSE_OBJECT = 0x7d;

/** JSON has no 64-bit integers, and no value may throw when it is written: `micro` is text there. */
class WritableAmount implements Amount {
  readonly exact: string | null;
  readonly value: number | null;
  readonly micro: bigint | null;
  readonly fault: string | null;

  constructor(exact: string | null, value: number | null, micro: bigint | null, unusable: string | null) {
    this.exact = exact;
    this.value = value;
    this.micro = micro;
    this.fault = unusable;
  }

  toJSON() {
    const micro = this.micro?.toString() ?? null;
    return { exact: this.exact, value: this.value, micro, fault: this.fault };
  }
}

/** Takes the digits from the object's own text: `JSON.parse` has already rounded the value. */
export function readAmount(objectText: string, value: unknown, name = 'amount'): Amount {
  if (value === undefined) return fault('absent');
  if (typeof value !== 'number')
    return fault(`expected a number, came ${value === null ? 'null' : typeof value}`);
  const key = `"${name}"`;
  return plainAmount(objectText, value, key) ?? amountOf(amountDigits(objectText, name));
}

/** As nearly all are: digits and a point, small enough that no digit is rounded away. */
function plainAmount(text: string, value: number, key: string): Amount | null {
  const name = text.indexOf(key);
  const start = name + key.length + 1;
  let end = start;
  while (isDigit(text.charCodeAt(end))) end += 1;
  const point = text.charCodeAt(end) === POINT ? end : null;
  if (point !== null) end += 1;
  while (isDigit(text.charCodeAt(end))) end += 1;
  const isPlain = name >= 0 && text[start - 1] === ':' && endsNumber(text.charCodeAt(end));
  const isCoarse = point === null || end - point - 1 <= MICRO_DIGITS;
  if (!isPlain || !isCoarse || !(value >= 0 && value < 1e9)) return null;
  if (text.indexOf(key, start) >= 0 || text.includes('\\u')) return null;
  return new WritableAmount(text.slice(start, end), value, BigInt(Math.round(value * 1e6)), null);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function endsNumber(code: number): boolean {
  return code === COMMA || code === CLOSE_OBJECT;
}

/** PostgreSQL keeps no more than some thousands of decimals. */
const LONGEST = 1_000;

export function amountOf(exact: string): Amount {
  const value = Number(exact);
  if (!NUMBER.test(exact) || Number.isNaN(value)) return fault('expected a number');
  if (!Number.isFinite(value)) return fault('larger than any number');
  if (exact.length > LONGEST) return fault('longer than any number');
  if (value < 0 || (value === 0 && exact.startsWith('-') && /[1-9]/.test(mantissa(exact))))
    return fault('negative');
  return new WritableAmount(exact, value === 0 ? 0 : value, microOf(exact), null);
}

function fault(text: string): Amount {
  return new WritableAmount(null, null, null, text);
}

function mantissa(exact: string): string {
  return exact.split(/[eE]/)[0] ?? '';
}

/** Almost always the name stands once in the text, and then the digits stand right behind it. */
function amountDigits(text: string, name: string): string {
  const key = `"${name}"`;
  const at = text.indexOf(key);
  const behind = at + key.length;
  const once = at >= 0 && text.indexOf(key, behind) < 0 && !text.includes('\\u');
  const near = once ? /^\s*:\s*(-?[\d.eE+-]+)[\s,}]/.exec(text.slice(behind, behind + 72)) : null;
  return near?.[1] ?? memberText(text, name) ?? '';
}

/** Null where the amount is finer than a millionth, or more than 64 bits hold. */
function microOf(exact: string): bigint | null {
  const [, , whole = '', fraction = '', exponentText = '0'] = NUMBER.exec(exact) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  if (digits === '') return 0n;
  const shift = Number(exponentText) - fraction.length + MICRO_DIGITS;
  if (shift >= 0) return withinRange(BigInt(digits) * 10n ** BigInt(shift));
  return /[1-9]/.test(digits.slice(shift)) ? null : withinRange(BigInt(digits.slice(0, shift)));
}

function withinRange(micro: bigint): bigint | null {
  return micro <= MAX_MICRO ? micro : null;
}

/** An amount as it goes out: a JSON number with the caller's own digits. */
export function amountText(amount: AmountInput): string {
  const text = typeof amount === 'number' ? String(amount) : amount;
  if (
    !/^(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text) ||
    text.length > 60 ||
    !(Number(text) > 0 && Number(text) < Infinity)
  ) {
    throw new RegistryError('bad_request', 'amount: expected a positive decimal number');
  }
  return text;
}

/** Whether two texts are the same number, to the last digit: `1`, `1.0` and `10e-1` are. */
export function sameAmount(one: string, other: string): boolean {
  return normalAmount(one) === normalAmount(other);
}

/** One text for all ways to write the same number. */
export function normalAmount(exact: string): string {
  const [, , whole = '', fraction = '', exponentText = '0'] = NUMBER.exec(exact) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return '0';
  return `${kept}e${Number(exponentText) - fraction.length + digits.length - kept.length}`;
}
