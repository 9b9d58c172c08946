import { RESOURCES } from '../../../migrations/mirror/0001/mirrored.js';

/** A mirrored resource, as its migration defines it. */
export type MirroredResource = (typeof RESOURCES)[number];

/** Returns whether the rows of a resource are counted: they belong to organizations and are not about people. */
export function hasCountedRows({ owner, resource }: MirroredResource): boolean {
  return owner !== null && resource !== 'members';
}
