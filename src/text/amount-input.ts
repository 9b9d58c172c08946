import { formatPlainTonnes } from './tonnes.js';

const DECIMAL = /^(0|[1-9]\d*)(\.\d{1,6})?$/;
const MICRO_DIGITS = 6;
/** Larger amounts do not fit into 64 bits as millionths. */
const MAX_LENGTH = 19;

/** An amount that a person typed, as it is sent and in millionths of a tonne. */
export interface TypedAmount {
  readonly amount: string;
  readonly micro: bigint;
}

/** Parses tonnes that a person typed, such as `2.5`. For any other text, returns an error message that says what to write. */
export function parseTypedAmount(text: string): TypedAmount | { readonly fault: string } {
  const amount = text.trim();
  if (!isAmount(amount)) return { fault: describeInvalidAmount(amount) };
  const [whole = '', fraction = ''] = amount.split('.');
  const micro = BigInt(`${whole}${fraction.padEnd(MICRO_DIGITS, '0')}`);
  return micro > 0n ? { amount, micro } : { fault: 'The amount must be more than 0 t.' };
}

function isAmount(text: string): boolean {
  return DECIMAL.test(text) && text.length <= MAX_LENGTH;
}

/** Builds the error message for a text that is not an amount. Suggests an amount if one is recognizable. */
function describeInvalidAmount(text: string): string {
  const suggestion = suggestAmount(text.replace(/\s*t$/, ''));
  const expected = 'Expected tonnes with a decimal point and at most six decimals, such as 2.5';
  if (suggestion !== null) return `“${text.slice(0, MAX_LENGTH)}” is not an amount: write ${suggestion}.`;
  return text === '' ? `${expected}.` : `${expected}, got “${text.slice(0, MAX_LENGTH)}”.`;
}

/** Suggests what a mistyped amount means: `2,5` → `2.5`, and `1,234` → `1234 or 1.234`. Null if there is no suggestion. */
function suggestAmount(text: string): string | null {
  const plain = text.replaceAll(/[\s'’]/g, '');
  const choices = [plain.replaceAll(',', ''), plain.replaceAll('.', '').replace(',', '.')];
  const [withoutSeparators = '', withPoint = ''] = choices;
  if (!plain.includes(',')) return isAmount(plain) ? plain : null;
  const isGrouped = /^\d{1,3}(,\d{3})+(\.\d+)?$/.test(plain);
  const isDecimalComma = /^\d+(\.\d{3})*,\d+$/.test(plain);
  const valid = [...(isGrouped ? [withoutSeparators] : []), ...(isDecimalComma ? [withPoint] : [])];
  const usable = valid.filter(isAmount);
  return usable.length === 0 ? null : usable.join(' or ');
}

/** Returns an error message if `asked` exceeds `available`, otherwise null. Both are micro-tonnes. */
export function findAmountShortage(asked: bigint, available: bigint): string | null {
  if (asked <= available) return null;
  return `Only ${formatPlainTonnes(available)} t are available.`;
}
