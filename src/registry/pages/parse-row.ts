import { RegistryError } from '../errors.js';
import type { SourceObject } from '../json/json-object.js';
import type { UnreadableRow } from '../read-types.js';

/** Parses one row and returns a list of one. Reports an unreadable row to `onUnreadable` and returns an empty list. */
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
