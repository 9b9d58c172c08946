import { RESOURCES } from '../../../migrations/mirror/0001/mirrored.js';

/**
 * A mirrored resource, as migration 0001 defines it. Leaves keep these columns even if a later migration adds one: sealed leaves have no
 * others, and the hash of the document covers its value.
 */
export type MirroredResource = (typeof RESOURCES)[number];

/** Returns whether the rows of a resource are counted: they belong to organizations and are not about people. */
export function hasCountedRows({ owner, resource }: MirroredResource): boolean {
  return owner !== null && resource !== 'members';
}
