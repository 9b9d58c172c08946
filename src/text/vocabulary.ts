import { cleanText, truncateName } from './clean-text.js';
import { findNear } from './edit-distance.js';

/** Maps every spelling of a word to one: `ex-post`, `EXPOST` and `exPost` are the same. Changes ASCII letters only, as `lower` of SQLite does. */
export function foldSpelling(text: string): string {
  return text.replaceAll(/[A-Z]/g, letter => letter.toLowerCase()).replaceAll(/[-_ ]/g, '');
}

/** Finds the word that is spelled so, exactly if possible; null if there is none. */
export function findSpelling<Word extends string>(text: string, words: readonly Word[]): Word | null {
  const folded = foldSpelling(text);
  return words.find(word => word === text) ?? words.find(word => foldSpelling(word) === folded) ?? null;
}

const MOST_LISTED = 20;

/** Says which words were expected, what came instead, and which words are near. */
export function describeWrongWord(text: string, words: readonly string[]): string {
  const folded = foldSpelling(text);
  const near = new Set([
    ...findNear(text, words, word => [word, foldSpelling(word)]),
    ...words.filter(word => folded.length > 1 && foldSpelling(word).includes(folded)),
  ]);
  const listed = [...words.slice(0, MOST_LISTED), ...(words.length > MOST_LISTED ? ['…'] : [])];
  const expected = `Expected one of ${listed.map(cleanText).join(', ')}, got "${truncateName(text)}".`;
  return near.size === 0 ? expected : `${expected} Did you mean ${[...near].map(cleanText).join(', ')}?`;
}
