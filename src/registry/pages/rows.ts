import { RegistryError } from '../errors.js';
import type { Source } from '../json/fields.js';
import type { UnreadableRow } from '../reading.js';

/** Parses one row of a list. Without `onUnreadable` an unreadable row fails the whole read; with it the row is reported and left out. */
export function parseRow<T>(
  row: Source,
  parse: (row: Source) => T,
  onUnreadable: ((row: UnreadableRow) => void) | undefined,
): readonly T[] {
  try {
    return [parse(row)];
  } catch (error) {
    if (onUnreadable === undefined || !(error instanceof RegistryError) || error.code !== 'bad_answer')
      throw error;
    onUnreadable({ row, error });
    return [];
  }
}
