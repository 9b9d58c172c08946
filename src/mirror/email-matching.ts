/** Returns the canonical form of an email address: trimmed, without differences of case or character width. */
export function normalizeEmail(email: string): string {
  return foldText(email.trim());
}

/** Removes differences of case and character width, so that equal texts compare equal. `ẞ` becomes `ss`. */
function foldText(text: string): string {
  return text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
}

const EMAIL = /[^\s"\\<>()[\]{},;:]+@[^\s"\\<>()[\]{},;:]+/g;

/** Returns every email address that occurs in the names and text values of a JSON document. */
export function findEmails(document: string): string[] {
  return extractStrings(document).flatMap(text => text.match(EMAIL) ?? []);
}

/** Whether a JSON document contains an email address, in any case or character width. */
export function containsEmail(document: string, normalizedEmail: string): boolean {
  return extractStrings(document).some(text => foldText(text).includes(normalizedEmail));
}

/** Whether a row of `members` has this email address or mentions it in its document. */
export function isRowOfPerson(
  { email, document }: { readonly email: string | null; readonly document: string },
  normalizedEmail: string,
): boolean {
  if (email !== null && normalizeEmail(email) === normalizedEmail) return true;
  return containsEmail(document, normalizedEmail);
}

/**
 * Extracts the property names and text values of a JSON document, decoded: JSON can escape the same letter in several
 * ways. A text that is not JSON is returned whole.
 */
function extractStrings(document: string): readonly string[] {
  try {
    return collectStrings(JSON.parse(document));
  } catch {
    return [document];
  }
}

/** Collects all property names and text values of a parsed JSON value. Recursion would overflow the stack at deep nesting. */
function collectStrings(root: unknown): string[] {
  const strings: string[] = [];
  const remaining = [root];
  while (remaining.length > 0) {
    const value = remaining.pop();
    if (typeof value === 'string') strings.push(value);
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, child] of Object.entries(value)) remaining.push(name, child);
  }
  return strings;
}
