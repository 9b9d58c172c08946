import { cleanText, truncateName } from './clean-text.js';
import { findSimilar } from './edit-distance.js';

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
