import { badAnswer } from './json/fields.js';

/** Whose list an answer says that it is, which must be the one that was asked for; null where it does not say. */
export function readOwner(
  envelope: Readonly<Record<string, unknown>>,
  organizationId: string,
): string | null {
  const owner = envelope['organizationId'];
  if (typeof owner !== 'string' || owner === '') return null;
  if (isSameId(owner, organizationId)) return owner;
  throw badAnswer('organizationId', 'the organization that was asked for', 'another one');
}

/** Most ids are UUIDs, which may come back in the other case. */
export function isSameId(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
