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
