import { formatWithCommas } from './numbers.js';

const MICRO_PER_TONNE = 1_000_000n;

/** The columns of a row that sums by credit type depend on. */
interface SummableRow {
  readonly type?: unknown;
  readonly amount_micro?: unknown;
}

/** Sums the tonnes of credits by credit type: `440,995 t ex-post and 63,304 t ex-ante`. */
export function formatSumsByType(rows: Iterable<SummableRow>): string {
  const microTonnesByType = new Map<string, bigint>();
  for (const row of rows) {
    const typeName = 'type' in row ? formatCreditType(typeof row.type === 'string' ? row.type : null) : '';
    const { amount_micro: micro } = row;
    const isNumber = typeof micro === 'number' || typeof micro === 'bigint';
    const sum = microTonnesByType.get(typeName) ?? 0n;
    microTonnesByType.set(typeName, sum + (isNumber ? BigInt(micro) : 0n));
  }
  if (microTonnesByType.size === 0) return '0 t';
  const sums = [...microTonnesByType]
    .toSorted(([left], [right]) => getTypeRank(left) - getTypeRank(right))
    .map(([typeName, micro]) => `${formatTonnes(micro)} t ${typeName}`.trimEnd());
  return [sums.slice(0, -1).join(', '), ...sums.slice(-1)].filter(Boolean).join(' and ');
}

const TYPES_IN_ORDER = ['ex-post', 'ex-ante'];

/** Returns the position of a credit type, such as `ex-post`, in sorted output. Unknown types come last. */
export function getTypeRank(typeName: string): number {
  const index = TYPES_IN_ORDER.indexOf(typeName);
  return index === -1 ? TYPES_IN_ORDER.length : index;
}

/** Formats a credit type for people: `exPost` → `ex-post`. Null becomes `of no type`. */
export function formatCreditType(type: string | null): string {
  if (type === 'exPost') return 'ex-post';
  if (type === 'exAnte') return 'ex-ante';
  return type ?? 'of no type';
}

/** Formats micro-tonnes as tonnes with commas: `6300200000n` → `6,300.2`. Every amount is shown so, except in `WHOLE_TONNES` tables. */
export function formatTonnes(micro: bigint): string {
  return formatWithCommas(formatPlainTonnes(micro));
}

/** What the caption of a table says if its amounts are formatted by `formatWholeTonnes`. */
export const WHOLE_TONNES = 'whole tonnes, rounded down';

/** Formats micro-tonnes as whole tonnes, rounded down: `6300200000n` → `6,300`. Less than one tonne becomes `<1`. */
export function formatWholeTonnes(micro: bigint): string {
  if (micro > 0n && micro < MICRO_PER_TONNE) return '<1';
  return formatWithCommas(micro / MICRO_PER_TONNE);
}

/** Formats micro-tonnes as tonnes without commas: `6300200000n` → `6300.2`. */
export function formatPlainTonnes(micro: bigint): string {
  const absolute = micro < 0n ? -micro : micro;
  const fraction = String(absolute % MICRO_PER_TONNE)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${micro < 0n ? '-' : ''}${absolute / MICRO_PER_TONNE}${fraction === '' ? '' : `.${fraction}`}`;
}

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
