import { createHash } from 'node:crypto';
import { findEmails, normalizeEmail } from './email-matching.js';

/** Returns the SHA-256 of an email address in hexadecimal. The mirror stores only this hash of a forgotten person. */
export function hashEmail(email: string): string {
  return createHash('sha256').update(email).digest('hex');
}

/** Whether the person with this email address asked to be forgotten. */
export function isForgotten(forgottenHashes: ReadonlySet<string>, email: string): boolean {
  return listPossibleHashes(email).some(hash => forgottenHashes.has(hash));
}

/** Returns the hash of an email address as this version computes it, and as earlier versions did. */
function listPossibleHashes(email: string): string[] {
  // Earlier versions normalized non-ASCII letters differently.
  return [hashEmail(normalizeEmail(email)), hashEmail(email.trim().toLowerCase())];
}

/** Whether a text contains none of the email addresses whose hashes are in `forgottenHashes`. */
export function isFreeOfForgottenPeople(forgottenHashes: ReadonlySet<string>, text: string): boolean {
  if (forgottenHashes.size === 0) return true;
  return findEmails(text).every(email => !isForgotten(forgottenHashes, email));
}
