/** One form for all ways of writing an address: no spaces around it, no other width, no case. */
export function normalAddress(text: string): string {
  return foldCase(text.trim());
}

/** What is no longer told apart once case and width are: `ẞ` is `ss`. */
function foldCase(text: string): string {
  return text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
}

/** What may be an address in a text. */
const ADDRESS = /[^\s"\\<>()[\]{},;:]+@[^\s"\\<>()[\]{},;:]+/g;

export function addressesIn(document: string): string[] {
  return stringsOf(document).flatMap(text => text.match(ADDRESS) ?? []);
}

export function namesAddress(document: string, address: string): boolean {
  return stringsOf(document).some(text => foldCase(text).includes(address));
}

/** Whether a row of members is that of whoever has the address, or names it. */
export function isOf(
  { email, document }: { readonly email: string | null; readonly document: string },
  address: string,
): boolean {
  return (email !== null && normalAddress(email) === address) || namesAddress(document, address);
}

/** JSON can write a letter in several ways: its strings are looked at as they are read. What is no JSON is one string. */
function stringsOf(document: string): readonly string[] {
  try {
    return within(JSON.parse(document));
  } catch {
    return [document];
  }
}

/** Names and values. Without recursion: what was sent may be nested deeper than the stack. */
function within(value: unknown): string[] {
  const found: string[] = [];
  const waiting = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === 'string') found.push(next);
    if (typeof next !== 'object' || next === null) continue;
    for (const [name, inner] of Object.entries(next)) waiting.push(name, inner);
  }
  return found;
}
