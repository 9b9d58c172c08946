import { RegistryError } from '../errors.js';
import type { SourceObject } from '../json/json-object.js';
import type { UnreadableRow } from '../read-types.js';

/**
 * Parses a row into a list of one item. For an unreadable row, calls `onUnreadable` and returns `[]`, or throws if `onUnreadable`
 * is undefined.
 */
export function parseRow<T>(
  object: SourceObject,
  parse: (object: SourceObject) => T,
  onUnreadable: ((row: UnreadableRow) => void) | undefined,
): readonly T[] {
  try {
    return [parse(object)];
  } catch (error) {
    if (onUnreadable === undefined || !(error instanceof RegistryError) || error.code !== 'bad_answer')
      throw error;
    onUnreadable({ object, error });
    return [];
  }
}
