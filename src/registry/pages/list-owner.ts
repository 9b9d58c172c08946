import { createBadAnswerError } from '../json/json-object.js';

/**
 * Returns the organization id that a list's response contains, or null if it contains none. Throws if it differs from
 * `organizationId`.
 */
export function checkListOwner(
  envelope: Readonly<Record<string, unknown>>,
  organizationId: string,
): string | null {
  const ownerId = envelope['organizationId'];
  if (typeof ownerId !== 'string' || ownerId === '') return null;
  if (isSameId(ownerId, organizationId)) return ownerId;
  throw createBadAnswerError('organizationId', 'the requested organization', 'another one');
}

/** Whether two ids are equal, ignoring case. */
export function isSameId(idA: string, idB: string): boolean {
  return idA.toLowerCase() === idB.toLowerCase();
}
