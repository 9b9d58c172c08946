import { POSTGRES } from '../../../../migrations/schema.js';
import { columnsOf, type Entry, keyOf } from '../../../resources/entry.js';
import type { Value } from '../../../resources/columns.js';
import { archive, type Ends } from '../../past.js';
import { instantFor } from '../driver.js';
import { SYNC } from './perform.js';

const INSTANT = /_at$/;
const WHOLE = /^(amount_micro|is_.+)$/;

/** The columns of a row that come from the registry, as a list of `name type`. */
export function typedColumns(entry: Entry): string {
  return cellsOf(entry)
    .map(name => `${name} ${typeOf(name)}`)
    .join(', ');
}

function cellsOf({ key, columns }: Entry): string[] {
  return [...key, ...columns].map(({ name }) => name);
}

function typeOf(name: string): string {
  if (INSTANT.test(name)) return 'timestamptz(3)';
  if (WHOLE.test(name)) return 'bigint';
  return name === 'amount' ? 'double precision' : 'text COLLATE "C"';
}

/** The values of its key and columns by their names, as JSON has them. */
export function cellsByName(
  entry: Entry,
  key: readonly string[],
  cells: readonly Value[],
): Record<string, unknown> {
  const values = [...key, ...cells];
  return Object.fromEntries(cellsOf(entry).map((name, index) => [name, jsonOf(name, values[index] ?? null)]));
}

function jsonOf(name: string, value: Value): string | number | null {
  if (typeof value === 'bigint') return String(value);
  return typeof value === 'string' && INSTANT.test(name) ? instantFor(value) : value;
}

export function names(entry: Entry): string {
  return columnsOf(entry).join(', ');
}

/** Where a row has the key of another. */
export function sameKey(entry: Entry, one: string, other: string): string {
  return keyOf(entry)
    .map(name => `${one}.${name} = ${other}.${name}`)
    .join(' AND ');
}

/** Takes versions into the past as they stand. Something takes their place unless it says otherwise. */
export function archived(
  entry: Entry,
  ends: Pick<Ends, 'at' | 'number'> & Partial<Ends>,
  from: string,
): string {
  return archive(POSTGRES, entry, { by: SYNC, isRemoved: '0', ...ends }, from);
}
