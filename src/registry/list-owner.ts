import { createBadAnswerError } from './json/json-object.js';

/**
 * Returns the organization that a list's envelope names as owner; null if it names none. Throws if it is not the
 * requested organization.
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

/** Whether two ids are equal, ignoring case: most are UUIDs, which the registry may return in another case. */
export function isSameId(idA: string, idB: string): boolean {
  return idA.toLowerCase() === idB.toLowerCase();
}
