import { RegistryError } from '../errors.js';
import { findMemberText } from './json-text.js';
import type { Amount } from '../object-models.js';

/** An amount that a caller passes: a decimal text, or a number whose printed digits are used. */
export type AmountInput = string | number;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const MAX_MICRO = 2n ** 63n - 1n;
/** Amounts are tonnes and are counted in millionths (grams). */
const MICRO_DIGITS = 6;
const COMMA = 0x2c;
const POINT = 0x2e;
const CLOSE_OBJECT = 0x7d;

/** An amount that `JSON.stringify` can write: JSON has no 64-bit integers, so `micro` becomes text. */
class WritableAmount implements Amount {
  readonly exact: string | null;
  readonly value: number | null;
  readonly micro: bigint | null;
  readonly fault: string | null;

  constructor(exact: string | null, value: number | null, micro: bigint | null, fault: string | null) {
    this.exact = exact;
    this.value = value;
    this.micro = micro;
    this.fault = fault;
  }

  /**
   * Returns the object that `JSON.stringify` writes. In this object, `micro` (the amount in millionths) is a string, because JSON has no
   * bigint.
   */
  toJSON() {
    const micro = this.micro?.toString() ?? null;
    return { exact: this.exact, value: this.value, micro, fault: this.fault };
  }
}

/**
 * Parses the amount in a JSON object with all its digits: `parsedValue`, the result of `JSON.parse`, may be rounded. An absent
 * or invalid amount is returned with a `fault`.
 */
export function parseAmount(objectText: string, parsedValue: unknown, fieldName = 'amount'): Amount {
  if (parsedValue === undefined) return createFaultyAmount('absent');
  if (typeof parsedValue !== 'number')
    return createFaultyAmount(`expected a number, got ${parsedValue === null ? 'null' : typeof parsedValue}`);
  return (
    parsePlainAmount(objectText, parsedValue, `"${fieldName}"`) ??
    createAmount(findAmountDigits(objectText, fieldName))
  );
}

/**
 * Parses a simple amount such as `12.5` without a full parser, which is faster. Returns null for any other amount, such as
 * `1e3`.
 */
function parsePlainAmount(objectText: string, parsedValue: number, quotedName: string): Amount | null {
  const nameStart = objectText.indexOf(quotedName);
  const start = nameStart + quotedName.length + 1;
  let end = start;
  while (isDigit(objectText.charCodeAt(end))) end += 1;
  const point = objectText.charCodeAt(end) === POINT ? end : null;
  if (point !== null) end += 1;
  while (isDigit(objectText.charCodeAt(end))) end += 1;
  const isPlain = nameStart >= 0 && objectText[start - 1] === ':' && isNumberEnd(objectText.charCodeAt(end));
  const fitsMillionths = point === null || end - point - 1 <= MICRO_DIGITS;
  if (!isPlain || !fitsMillionths || !(parsedValue >= 0 && parsedValue < 1e9)) return null;
  // A second key of this name, plain or escaped, would make it unclear which value counts.
  if (objectText.indexOf(quotedName, start) >= 0 || objectText.includes('\\u')) return null;
  const micro = BigInt(Math.round(parsedValue * 1e6));
  return new WritableAmount(objectText.slice(start, end), parsedValue, micro, null);
}

function isDigit(charCode: number): boolean {
  return charCode >= 0x30 && charCode <= 0x39;
}

function isNumberEnd(charCode: number): boolean {
  return charCode === COMMA || charCode === CLOSE_OBJECT;
}

/** The longest number that is accepted. PostgreSQL stores at most some thousands of decimals. */
const MAX_DIGITS = 1_000;

/** Parses the text of a JSON number to an amount. An invalid or negative number gives an amount with a `fault`. */
export function createAmount(exact: string): Amount {
  const value = Number(exact);
  if (!NUMBER.test(exact) || Number.isNaN(value)) return createFaultyAmount('expected a number');
  if (!Number.isFinite(value)) return createFaultyAmount('larger than any number');
  if (exact.length > MAX_DIGITS) return createFaultyAmount('longer than any number');
  if (value < 0 || (value === 0 && isNegativeNumber(exact))) return createFaultyAmount('negative');
  return new WritableAmount(exact, value === 0 ? 0 : value, toMillionths(exact), null);
}

/** Whether the number in a text is below zero, even if `Number` would round it to zero: true for `-5` and `-1e-400`, false for `-0`. */
function isNegativeNumber(exact: string): boolean {
  const [mantissa = ''] = exact.split(/[eE]/);
  return exact.startsWith('-') && /[1-9]/.test(mantissa);
}

/** Creates an amount without a value. `fault` says why the registry's number could not be used. */
function createFaultyAmount(fault: string): Amount {
  return new WritableAmount(null, null, null, fault);
}

/** Returns the text of a number field in a JSON object: `{"amount":1.50}` → `1.50`. Returns `''` if the field is missing. */
function findAmountDigits(objectText: string, fieldName: string): string {
  const quotedName = `"${fieldName}"`;
  const nameStart = objectText.indexOf(quotedName);
  const nameEnd = nameStart + quotedName.length;
  const occursOnce =
    nameStart >= 0 && objectText.indexOf(quotedName, nameEnd) < 0 && !objectText.includes('\\u');
  const match = occursOnce
    ? /^\s*:\s*(-?[\d.eE+-]+)[\s,}]/.exec(objectText.slice(nameEnd, nameEnd + 72))
    : null;
  return match?.[1] ?? findMemberText(objectText, fieldName) ?? '';
}

/** Converts a decimal text to millionths: `1.5` → `1500000n`. Null if digits would be lost or the result exceeds 64 bits. */
function toMillionths(exact: string): bigint | null {
  const [, , whole = '', fraction = '', exponentText = '0'] = NUMBER.exec(exact) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  if (digits === '') return 0n;
  const shift = Number(exponentText) - fraction.length + MICRO_DIGITS;
  if (shift >= 0) return nullIfTooLarge(BigInt(digits) * 10n ** BigInt(shift));
  const hasFinerDigits = /[1-9]/.test(digits.slice(shift));
  return hasFinerDigits ? null : nullIfTooLarge(BigInt(digits.slice(0, shift)));
}

/** Returns null instead of millionths that do not fit into 64 bits. */
function nullIfTooLarge(millionths: bigint): bigint | null {
  return millionths <= MAX_MICRO ? millionths : null;
}

/** Formats an amount as a JSON number with its digits unchanged. Throws `bad_request` unless the amount is positive. */
export function formatAmount(amount: AmountInput): string {
  const text = typeof amount === 'number' ? String(amount) : amount;
  const isDecimal = /^(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text) && text.length <= 60;
  const isPositive = Number(text) > 0 && Number(text) < Infinity;
  if (isDecimal && isPositive) return text;
  throw new RegistryError('bad_request', 'amount: expected a positive decimal number');
}

/** Whether two texts are the same number, such as `1`, `1.0` and `10e-1`. */
export function isSameAmount(exactA: string, exactB: string): boolean {
  return normalizeAmount(exactA) === normalizeAmount(exactB);
}

/** Converts a decimal text to a canonical form for comparison: `20`, `20.0` and `2e1` all become `2e1`. */
export function normalizeAmount(exact: string): string {
  const [, , whole = '', fraction = '', exponentText = '0'] = NUMBER.exec(exact) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significantDigits = digits.replace(/0+$/, '');
  if (significantDigits === '') return '0';
  const exponent = Number(exponentText) - fraction.length + digits.length - significantDigits.length;
  return `${significantDigits}e${exponent}`;
}
