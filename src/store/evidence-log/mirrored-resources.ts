import { RESOURCES } from '../../../migrations/mirror/0001/mirrored.js';

/** A mirrored resource, as its migration defines it. */
export type MirroredResource = (typeof RESOURCES)[number];

/** Whether a resource belongs to organizations and is about things, not about people. */
export function hasCountedRows({ owner, resource }: MirroredResource): boolean {
  return owner !== null && resource !== 'members';
}
