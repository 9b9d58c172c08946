import { expect, test } from 'vitest';
import {
  computeEditDistance,
  describeWrongWord,
  findSimilar,
  findSpelling,
  isSimilar,
} from '../../src/text/spelling.js';

test.each([
  ['kitten', 'sitting', 3],
  ['failed', 'faild', 1],
  ['faild', 'failed', 1],
  ['abc', 'abc', 0],
  ['', 'abc', 3],
  ['abc', '', 3],
  ['', '', 0],
])('"%s" and "%s" are %i edits apart', (left, right, distance) => {
  expect(computeEditDistance(left, right)).toBe(distance);
});

test.each([
  ['retirment', 'retirement', true],
  ['name', 'game', true],
  ['cat', 'bat', false],
  ['warehose', 'warhouse', true],
  ['warehouse', 'wrhuse', false],
])('"%s" is similar to "%s": %s', (left, right, similar) => expect(isSimilar(left, right)).toBe(similar));

test('a word is found in any spelling, and its exact spelling comes first', () => {
  expect(findSpelling('EX-post', ['exAnte', 'exPost'])).toBe('exPost');
  expect(findSpelling('ex_post', ['expost', 'ex_post'])).toBe('ex_post');
  expect(findSpelling('exPast', ['exAnte', 'exPost'])).toBeNull();
});

test('similar items are suggested by their text or one of its words, the most similar first, up to five', () => {
  const names = [
    'Harbour Ferries',
    'Harbour',
    'Harbor',
    'Hill Farm',
    'Harbour A',
    'Harbour BB',
    'Harbour CCC',
  ];
  expect(findSimilar('harbor', names, name => [name])).toEqual([
    'Harbor',
    'Harbour',
    'Harbour A',
    'Harbour BB',
    'Harbour CCC',
  ]);
  expect(findSimilar('zebra', names, name => [name])).toEqual([]);
});

const WORDS = Array.from({ length: 21 }, (_, index) => `word${index}`);

test.each([
  ['zzz', ['a', 'b'], 'Expected one of a, b, got "zzz".'],
  ['A-LPHA', ['alphas', 'beta'], 'Expected one of alphas, beta, got "A-LPHA". Did you mean alphas?'],
  ['l', ['alpha', 'beta'], 'Expected one of alpha, beta, got "l".'],
  ['al', ['alpha', 'beta'], 'Expected one of alpha, beta, got "al". Did you mean alpha?'],
  ['?', WORDS, `Expected one of ${WORDS.slice(0, 20).join(', ')}, …, got "?".`],
  ['?', WORDS.slice(0, 20), `Expected one of ${WORDS.slice(0, 20).join(', ')}, got "?".`],
])('the wrong word "%s" is answered with the known words and similar ones', (text, words, message) => {
  expect(describeWrongWord(text, words)).toBe(message);
});
