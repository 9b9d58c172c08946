/** Returns an email address in one canonical form: trimmed, without differences of case or character width. */
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
  return readStrings(document).flatMap(text => text.match(EMAIL) ?? []);
}

/** Whether a JSON document contains an email address, in any case or character width. */
export function containsEmail(document: string, normalizedEmail: string): boolean {
  return readStrings(document).some(text => foldText(text).includes(normalizedEmail));
}

/** Whether a row of members belongs to this email address or mentions it in its document. */
export function isMemberRowOf(
  { email, document }: { readonly email: string | null; readonly document: string },
  normalizedEmail: string,
): boolean {
  if (email !== null && normalizeEmail(email) === normalizedEmail) return true;
  return containsEmail(document, normalizedEmail);
}

/**
 * Returns the decoded names and text values of a JSON document, because JSON can escape one letter in several ways.
 * Text that is not JSON is returned as one string.
 */
function readStrings(document: string): readonly string[] {
  try {
    return collectStrings(JSON.parse(document));
  } catch {
    return [document];
  }
}

/** Returns all property names and text values of a parsed JSON value. Not recursive: deep nesting would overflow the stack. */
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
