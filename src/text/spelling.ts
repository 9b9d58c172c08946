import { cleanText, truncateName } from './clean-text.js';

/** Normalizes the spelling of a word: `ex-post`, `EXPOST` and `exPost` all become `expost`. */
export function foldSpelling(text: string): string {
  // Only ASCII letters are lowered, as by `lower` of SQLite.
  return text.replaceAll(/[A-Z]/g, letter => letter.toLowerCase()).replaceAll(/[-_ ]/g, '');
}

/** Returns the word that equals `text` apart from case, hyphens, underscores and spaces. Returns null if there is none. */
export function findSpelling<Word extends string>(text: string, words: readonly Word[]): Word | null {
  const folded = foldSpelling(text);
  return words.find(word => word === text) ?? words.find(word => foldSpelling(word) === folded) ?? null;
}

const MAX_LISTED_WORDS = 20;

/** Builds the error message for an unknown word, with the known words and the most similar ones. */
export function describeWrongWord(text: string, words: readonly string[]): string {
  const folded = foldSpelling(text);
  const suggestions = new Set([
    ...findSimilar(text, words, word => [word, foldSpelling(word)]),
    ...words.filter(word => folded.length > 1 && foldSpelling(word).includes(folded)),
  ]);
  const listed = words.slice(0, MAX_LISTED_WORDS).map(cleanText);
  if (words.length > MAX_LISTED_WORDS) listed.push('…');
  const expected = `Expected one of ${listed.join(', ')}, got "${truncateName(text)}".`;
  return suggestions.size === 0
    ? expected
    : `${expected} Did you mean ${[...suggestions].map(cleanText).join(', ')}?`;
}

/** Computes the Levenshtein distance of two words: `kitten`, `sitting` → 3. */
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

/** Finds up to five items with a name similar to a misspelled text, the most similar first. `getNames` lists an item's names. */
export function findSimilar<Item>(
  text: string,
  items: readonly Item[],
  getNames: (item: Item) => readonly string[],
): Item[] {
  const query = text.toLowerCase();
  const queryWords = listTextAndWords(query);
  return items
    .map(item => ({ item, names: getNames(item).map(name => name.toLowerCase()) }))
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

/** Returns the text and each of its words that has at least three letters. */
function listTextAndWords(text: string): string[] {
  return [text, ...(text.match(WORD) ?? [])];
}

/** Whether the edit distance of two words is at most a quarter of the shorter word's length. */
export function isSimilar(left: string, right: string): boolean {
  const maxDistance = Math.floor(Math.min(left.length, right.length) / 4);
  return (
    Math.abs(left.length - right.length) <= maxDistance && computeEditDistance(left, right) <= maxDistance
  );
}
