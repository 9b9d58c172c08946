import { createBadAnswerError } from './json/json-object.js';

/** Checks that a list response belongs to the requested organization. Returns the owner's id if the response has one. */
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
