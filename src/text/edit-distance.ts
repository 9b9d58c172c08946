/** Returns the Levenshtein distance: how many letters must be inserted, deleted or replaced to turn one word into the other. */
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
 * Finds up to five items to suggest for a misspelled text, the most similar first. An item is found if one of its texts,
 * or a word of one, differs from the text or one of its words by at most one letter in four.
 */
export function findSimilar<Item>(
  text: string,
  items: readonly Item[],
  getTexts: (item: Item) => readonly string[],
): Item[] {
  const wanted = text.toLowerCase();
  const wantedWords = withWords(wanted);
  return items
    .map(item => ({ item, texts: getTexts(item).map(each => each.toLowerCase()) }))
    .filter(({ texts }) =>
      texts.flatMap(withWords).some(word => wantedWords.some(wantedWord => isSimilar(wantedWord, word))),
    )
    .map(({ item, texts }) => ({
      item,
      distance: Math.min(...texts.map(each => computeEditDistance(wanted, each))),
    }))
    .toSorted((left, right) => left.distance - right.distance)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ item }) => item);
}

/** Returns the text itself and each of its words of at least three letters. */
function withWords(text: string): string[] {
  return [text, ...(text.match(WORD) ?? [])];
}

/** Whether two words differ by at most one letter in four. */
export function isSimilar(left: string, right: string): boolean {
  const maxDistance = Math.floor(Math.min(left.length, right.length) / 4);
  return (
    Math.abs(left.length - right.length) <= maxDistance && computeEditDistance(left, right) <= maxDistance
  );
}
