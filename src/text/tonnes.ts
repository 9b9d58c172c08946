import { withThousands } from './thousands.js';

const MICRO = 1_000_000n;

/** Of a credit's type, as people read it: what is issued and what is expected are never one number. */
export function typeName(type: string | null): string {
  return type === 'exPost' ? 'ex-post' : type === 'exAnte' ? 'ex-ante' : (type ?? 'of no type');
}

/** Millionths as tonnes, to the last digit: `6,300.2`. */
export function tonnesOf(micro: bigint): string {
  return withThousands(plainTonnes(micro));
}

/** The same without signs between thousands: `6300.2`. */
export function plainTonnes(micro: bigint): string {
  const size = micro < 0n ? -micro : micro;
  const fraction = String(size % MICRO)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${micro < 0n ? '-' : ''}${size / MICRO}${fraction === '' ? '' : `.${fraction}`}`;
}
