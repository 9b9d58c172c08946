import { withThousands } from './numbers.js';

const MICRO_PER_TONNE = 1_000_000n;

interface SummableRow {
  readonly type?: unknown;
  readonly amount_micro?: unknown;
}

/** What rows of credits add up to, each type for itself: `440,995 t ex-post and 63,304 t ex-ante`. Of rows that have no type, one sum. */
export function formatSumByType(rows: Iterable<SummableRow>): string {
  const sums = new Map<string, bigint>();
  for (const row of rows) {
    const name = 'type' in row ? creditTypeName(typeof row.type === 'string' ? row.type : null) : '';
    const { amount_micro: micro } = row;
    const isSummed = typeof micro === 'number' || typeof micro === 'bigint';
    sums.set(name, (sums.get(name) ?? 0n) + (isSummed ? BigInt(micro) : 0n));
  }
  if (sums.size === 0) return '0 t';
  const parts = [...sums]
    .toSorted(compareTypes)
    .map(([name, micro]) => `${formatTonnes(micro)} t ${name}`.trimEnd());
  return [parts.slice(0, -1).join(', '), ...parts.slice(-1)].filter(Boolean).join(' and ');
}

const TYPES = ['ex-post', 'ex-ante'];

function compareTypes([one]: readonly [string, bigint], [other]: readonly [string, bigint]): number {
  const [place, otherPlace] = [one, other].map(name => TYPES.indexOf(name) + 1 || TYPES.length + 1);
  return (place ?? 0) - (otherPlace ?? 0);
}

/** A credit's type, as people read it: what is issued and what is expected are never one number. */
export function creditTypeName(type: string | null): string {
  return type === 'exPost' ? 'ex-post' : type === 'exAnte' ? 'ex-ante' : (type ?? 'of no type');
}

/** Millionths as tonnes, to the last digit: `6,300.2`. */
export function formatTonnes(micro: bigint): string {
  return withThousands(formatPlainTonnes(micro));
}

/** The same without signs between thousands: `6300.2`. */
export function formatPlainTonnes(micro: bigint): string {
  const size = micro < 0n ? -micro : micro;
  const fraction = String(size % MICRO_PER_TONNE)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${micro < 0n ? '-' : ''}${size / MICRO_PER_TONNE}${fraction === '' ? '' : `.${fraction}`}`;
}
