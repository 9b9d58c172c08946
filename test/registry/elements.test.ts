import { describe, expect, test } from 'vitest';
import { createElementCutter } from '../../src/registry/elements.js';

/** A small generator of pseudo-random numbers, so that a failure can be repeated. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function cut(text: string, sizes: () => number = () => Infinity, key = 'credits') {
  const cutter = createElementCutter(key);
  const bytes = Buffer.from(text);
  const texts: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = Math.max(1, sizes());
    texts.push(...cutter.push(bytes.subarray(at, at + size)));
    at += size;
  }
  return { texts, envelope: cutter.end(), span: cutter.span(), bytes };
}

const STRINGS = [
  '',
  'a',
  '"',
  '\\',
  '\\"',
  '[{',
  '}]',
  'ü€😀',
  '\u0000\n',
  ',',
  ':',
  '"credits":[',
  '\ud800',
];

function anyValue(random: () => number, depth: number): unknown {
  const pick = Math.floor(random() * (depth > 3 ? 4 : 6));
  if (pick === 0) return STRINGS[Math.floor(random() * STRINGS.length)];
  if (pick === 1) return random() * 1e6;
  if (pick === 2) return random() < 0.5;
  if (pick === 3) return null;
  const size = Math.floor(random() * 4);
  if (pick === 4) return Array.from({ length: size }, () => anyValue(random, depth + 1));
  return anyObject(random, depth + 1, size);
}

function anyObject(random: () => number, depth: number, size: number): Record<string, unknown> {
  const entries = Array.from({ length: size }, (_, index) => [
    `${STRINGS[Math.floor(random() * STRINGS.length)]}${index}`,
    anyValue(random, depth),
  ]);
  return Object.fromEntries(entries);
}

test('any answer, cut into any chunks, is what JSON.parse reads', () => {
  for (let seed = 1; seed <= 400; seed += 1) {
    const random = createRandom(seed);
    const rows = Array.from({ length: Math.floor(random() * 6) }, () => anyObject(random, 1, 4));
    const before = anyObject(random, 2, Math.floor(random() * 3));
    const after = anyObject(random, 2, Math.floor(random() * 3));
    const whole = { before, credits: rows, after, total: 3 };
    const text = JSON.stringify(whole, null, seed % 3 === 0 ? 2 : 0);
    const { texts, envelope } = cut(text, () => Math.floor(random() * 9));
    expect(texts.map(row => JSON.parse(row))).toEqual(JSON.parse(JSON.stringify(rows)));
    expect(envelope).toEqual(JSON.parse(JSON.stringify({ ...whole, credits: [] })));
  }
});

test('the elements keep the registry’s own text, digit for digit', () => {
  const row = '{ "amount" : 9007199254740993.10, "x":[1.0,{"credits":[]}] }';
  const { texts, span, bytes } = cut(`{"organizationId":"o","credits":[${row} , ${row}],"pagination":{}}`);
  expect(texts).toEqual([row, row]);
  expect(bytes.subarray(span.start, span.end).toString()).toBe(`[${row} , ${row}]`);
});

test('the list is only taken from the outermost object', () => {
  const { texts } = cut('{"a":{"credits":[{"no":1}]},"b":["credits",[{"no":2}]],"credits":[{"yes":1}]}');
  expect(texts).toEqual(['{"yes":1}']);
});

describe('a list that cannot be trusted is a bad answer', () => {
  test.each([
    ['no list', '{"projects":[]}'],
    ['null', '{"credits":null}'],
    ['an object', '{"credits":{}}'],
    ['two lists', '{"credits":[{}],"credits":[{}]}'],
    ['numbers in it', '{"credits":[1]}'],
    ['null in it', '{"credits":[null]}'],
    ['a list in it', '{"credits":[[]]}'],
    ['no comma', '{"credits":[{}{}]}'],
    ['a comma at its end', '{"credits":[{},]}'],
    ['a comma at its beginning', '{"credits":[,{}]}'],
    ['cut in the list', '{"credits":[{},'],
    ['cut in an element', '{"credits":[{"a":'],
    ['cut after the list', '{"credits":[{}]'],
    ['text behind it', '{"credits":[]}x'],
    ['nothing', ''],
    ['HTML', '<html>'],
    ['another outermost value', '["credits",[{}]]'],
  ])('%s', (_name, text) => {
    expect(() => cut(text)).toThrow(expect.objectContaining({ code: 'bad_answer' }));
  });
});

test('T33 what stands around the list may not grow without end, and neither may one element', () => {
  expect(() => cut(`{"x":"${'y'.repeat(300_000)}","credits":[]}`)).toThrow(
    expect.objectContaining({ code: 'too_large' }),
  );
  expect(() => cut(`{"credits":[{"x":"${'y'.repeat(5_000_000)}"}]}`, () => 65_536)).toThrow(
    expect.objectContaining({ code: 'too_large' }),
  );
});
