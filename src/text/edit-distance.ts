/** Counts the letters that must be inserted, deleted or replaced to turn one word into the other. */
export function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (const [i, letter] of one.split('').entries()) {
    const next = [i + 1];
    for (const [j, wanted] of other.split('').entries()) {
      const changed = (row[j] ?? 0) + (letter === wanted ? 0 : 1);
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

const MAX_NEAR = 5;
const WORD = /[\p{L}\p{N}]{3,}/gu;

/**
 * Finds the items whose text, or a word of it, differs from the wanted text, or from a word of it, by at most one letter in
 * four. The nearest come first.
 */
export function findNear<Item>(
  text: string,
  items: readonly Item[],
  textsOf: (item: Item) => readonly string[],
): Item[] {
  const wanted = text.toLowerCase();
  const words = [wanted, ...(wanted.match(WORD) ?? [])];
  const lowered = (item: Item) => textsOf(item).map(each => each.toLowerCase());
  const isClose = (each: string) =>
    [each, ...(each.match(WORD) ?? [])].some(word => words.some(other => isNear(other, word)));
  const far = (item: Item) => Math.min(...lowered(item).map(each => editDistance(wanted, each)));
  return items
    .filter(item => lowered(item).some(isClose))
    .map(item => ({ item, far: far(item) }))
    .toSorted((one, other) => one.far - other.far)
    .slice(0, MAX_NEAR)
    .map(({ item }) => item);
}

/** Whether the words differ by at most one letter in four. */
export function isNear(one: string, other: string): boolean {
  const letters = Math.floor(Math.min(one.length, other.length) / 4);
  return Math.abs(one.length - other.length) <= letters && editDistance(one, other) <= letters;
}
