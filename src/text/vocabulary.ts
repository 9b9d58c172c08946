import { cleanText, truncateName } from './clean-text.js';
import { findSimilar } from './edit-distance.js';

/** Maps every spelling of a word to one: `ex-post`, `EXPOST` and `exPost` become `expost`. Lowers ASCII letters only, as SQLite's `lower` does. */
export function foldSpelling(text: string): string {
  return text.replaceAll(/[A-Z]/g, letter => letter.toLowerCase()).replaceAll(/[-_ ]/g, '');
}

/** Finds the word that a text spells: an exact match first, then any spelling; null if there is none. */
export function findSpelling<Word extends string>(text: string, words: readonly Word[]): Word | null {
  const folded = foldSpelling(text);
  return words.find(word => word === text) ?? words.find(word => foldSpelling(word) === folded) ?? null;
}

const MAX_LISTED_WORDS = 20;

/** Builds the error message for an unknown word: the expected words, the given text and similar words. */
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
