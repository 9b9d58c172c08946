/** Computes the Levenshtein distance: how many inserted, deleted or replaced letters turn one word into the other. */
export function computeEditDistance(left: string, right: string): number {
  let previousRow = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [leftIndex, leftLetter] of left.split('').entries()) {
    const row = [leftIndex + 1];
    for (const [rightIndex, rightLetter] of right.split('').entries()) {
      const replaced = (previousRow[rightIndex] ?? 0) + (leftLetter === rightLetter ? 0 : 1);
      const deleted = (previousRow[rightIndex + 1] ?? 0) + 1;
      const inserted = (row[rightIndex] ?? 0) + 1;
      row.push(Math.min(replaced, deleted, inserted));
    }
    previousRow = row;
  }
  return previousRow.at(-1) ?? 0;
}

const MAX_SUGGESTIONS = 5;
const WORD = /[\p{L}\p{N}]{3,}/gu;

/**
 * Finds up to five items to suggest for a misspelled text, most similar first. `getTexts` returns the names of an item.
 * Whole texts and single words are compared; two of them are similar if at most one letter in four differs.
 */
export function findSimilar<Item>(
  text: string,
  items: readonly Item[],
  getTexts: (item: Item) => readonly string[],
): Item[] {
  const query = text.toLowerCase();
  const queryWords = listTextAndWords(query);
  return items
    .map(item => ({ item, names: getTexts(item).map(name => name.toLowerCase()) }))
    .filter(({ names }) =>
      names.flatMap(listTextAndWords).some(word => queryWords.some(queryWord => isSimilar(queryWord, word))),
    )
    .map(({ item, names }) => ({
      item,
      distance: Math.min(...names.map(name => computeEditDistance(query, name))),
    }))
    .toSorted((left, right) => left.distance - right.distance)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ item }) => item);
}

/** Lists the text itself and each of its words that has at least three letters. */
function listTextAndWords(text: string): string[] {
  return [text, ...(text.match(WORD) ?? [])];
}

/** Whether two words differ by at most one letter in four. */
export function isSimilar(left: string, right: string): boolean {
  const maxDistance = Math.floor(Math.min(left.length, right.length) / 4);
  return (
    Math.abs(left.length - right.length) <= maxDistance && computeEditDistance(left, right) <= maxDistance
  );
}
