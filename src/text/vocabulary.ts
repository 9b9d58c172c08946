import { cleanText, truncateName } from './clean-text.js';
import { findSimilar } from './edit-distance.js';

/**
 * Converts every spelling of a word to the same text: `ex-post`, `EXPOST` and `exPost` become `expost`. Only ASCII letters
 * are lowered, as by SQLite's function `lower`.
 */
export function foldSpelling(text: string): string {
  return text.replaceAll(/[A-Z]/g, letter => letter.toLowerCase()).replaceAll(/[-_ ]/g, '');
}

/** Finds the word that equals a text, or else one that differs only in spelling; null if there is none. */
export function findSpelling<Word extends string>(text: string, words: readonly Word[]): Word | null {
  const folded = foldSpelling(text);
  return words.find(word => word === text) ?? words.find(word => foldSpelling(word) === folded) ?? null;
}

const MAX_LISTED_WORDS = 20;

/** Builds the error message for an unknown word: which words are expected, and which of them are similar. */
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
