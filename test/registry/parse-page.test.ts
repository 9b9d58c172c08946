import { expect, test } from 'vitest';
import { parsePage } from '../../src/registry/pages/parse-page.js';
import { createArraySplitter } from '../../src/registry/json/array-splitter.js';
import { createRandom } from '../support/random.js';

/** Splits a page by scanning every byte. The fast split must give the same result. */
function splitByScanning(body: Buffer) {
  const splitter = createArraySplitter('credits');
  const texts = splitter.push(body);
  const envelope = splitter.finish();
  return { texts, values: texts.map(text => JSON.parse(text)), envelope };
}

function splitFast(body: Buffer) {
  const { rows, envelope } = parsePage(body, 'credits');
  return {
    texts: rows.map(({ text }) => text),
    values: rows.map(({ value }) => value),
    envelope,
  };
}

/** Returns the result of a split, or `refused` if it throws. */
function getResultOrRefusal<T>(split: () => T): T | string {
  try {
    return split();
  } catch {
    return 'refused';
  }
}

const PARTS = [
  '{}',
  '{"a":1}',
  '{"b":[{},{}]}',
  '{"c":"},{"}',
  '{"d":"\\""}',
  '{"ü":"€"}',
  '{"credits":[{}]}',
  '[]',
  '1',
];
const JOINTS = [',', ',', ',', ', ', '', ',,'];
const BEFORE = [
  '{',
  '{"total":1,',
  '{"x":{"credits":[{}]},',
  '{"x":"\\"credits\\":[{}]",',
  '{"y":[{},{}],',
  '\uFEFF{',
  '[{',
];
const NAMES = ['"credits":[', '"credits": [', '"cred\\u0069ts":[', '"credits":[[', '"credit":['];
const AFTER = [
  ']}',
  ']} ',
  '],"pagination":{"total":3}}',
  '],"z":[{},{}]}',
  '],"credits":[]}',
  '],"credits":5}',
  ']',
  '}',
];

test('the fast split of a page gives the same rows as scanning every byte', () => {
  const random = createRandom(7);
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)] ?? '';
  let taken = 0;
  for (let round = 0; round < 20_000; round += 1) {
    const size = Math.floor(random() * 4);
    const parts = Array.from(
      { length: size },
      (_, index) => `${index > 0 ? pick(JOINTS) : ''}${pick(PARTS)}`,
    );
    const body = Buffer.from(`${pick(BEFORE)}${pick(NAMES)}${parts.join('')}${pick(AFTER)}`);
    const expected = getResultOrRefusal(() => splitByScanning(body));
    expect(
      getResultOrRefusal(() => splitFast(body)),
      body.toString(),
    ).toEqual(expected);
    if (expected !== 'refused') taken += 1;
  }
  expect(taken).toBeGreaterThan(1_000);
});
