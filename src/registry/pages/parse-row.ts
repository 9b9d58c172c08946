import { RegistryError } from '../errors.js';
import type { SourceObject } from '../json/json-object.js';
import type { UnreadableRow } from '../read-types.js';

/**
 * Parses one row and returns it in a list of one. An unreadable row is reported to `onUnreadable`, and the returned list
 * is empty. Without `onUnreadable` such a row throws, which fails the whole read.
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
