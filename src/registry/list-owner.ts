import { createBadAnswerError } from './json/json-object.js';

/** Returns the owner that a list names, or null if none is named. Throws if the owner is not `organizationId`. */
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
