import { createHash } from 'node:crypto';

/** Returns the SHA-256 of an email address in hexadecimal. The mirror stores only this hash of a forgotten person. */
export function hashEmail(email: string): string {
  return createHash('sha256').update(email).digest('hex');
}

/** Whether the person with this email address asked to be forgotten. */
export function isForgotten(forgottenHashes: ReadonlySet<string>, email: string): boolean {
  return listPossibleHashes(email).some(hash => forgottenHashes.has(hash));
}

/**
 * Returns the hashes under which an email address may be stored: the one that this release computes, and the one that earlier releases
 * computed.
 */
function listPossibleHashes(email: string): string[] {
  // Earlier versions normalized non-ASCII letters differently.
  return [hashEmail(normalizeEmail(email)), hashEmail(email.trim().toLowerCase())];
}

/**
 * Whether a text contains no email address of a person who asked to be forgotten. `forgottenHashes` are the hashes of the addresses of
 * these people.
 */
export function containsNoForgottenEmail(forgottenHashes: ReadonlySet<string>, text: string): boolean {
  if (forgottenHashes.size === 0) return true;
  return findEmails(text).every(email => !isForgotten(forgottenHashes, email));
}

/** Returns the canonical form of an email address: trimmed and case-folded. */
export function normalizeEmail(email: string): string {
  return foldText(email.trim());
}

/** Case-folds a text for comparison and converts full-width characters to normal ones. `ẞ` becomes `ss`. */
function foldText(text: string): string {
  return text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
}

const EMAIL = /[^\s"\\<>()[\]{},;:]+@[^\s"\\<>()[\]{},;:]+/g;

/** Finds all email addresses in the property names and strings of a JSON document. */
function findEmails(document: string): string[] {
  return extractStrings(document).flatMap(text => text.match(EMAIL) ?? []);
}

/** Whether a JSON document contains an email address. Ignores case and character width. */
export function containsEmail(document: string, normalizedEmail: string): boolean {
  return extractStrings(document).some(text => foldText(text).includes(normalizedEmail));
}

/** Whether a row of `members` has this email address, or contains the address anywhere in its JSON document. */
export function isRowOfPerson(
  { email, document }: { readonly email: string | null; readonly document: string },
  normalizedEmail: string,
): boolean {
  if (email !== null && normalizeEmail(email) === normalizedEmail) return true;
  return containsEmail(document, normalizedEmail);
}

/** Returns all property names and strings of a JSON document, with escapes decoded. Returns the whole text if it is not JSON. */
function extractStrings(document: string): readonly string[] {
  try {
    // Parse the JSON, because JSON can escape the same letter in several ways.
    return collectStrings(JSON.parse(document));
  } catch {
    // The text is not JSON.
    return [document];
  }
}

/** Returns all property names and strings of a parsed JSON value. */
function collectStrings(root: unknown): string[] {
  const strings: string[] = [];
  // A stack of values instead of recursion, which deep nesting would overflow.
  const remaining = [root];
  while (remaining.length > 0) {
    const value = remaining.pop();
    if (typeof value === 'string') strings.push(value);
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, child] of Object.entries(value)) remaining.push(name, child);
  }
  return strings;
}
