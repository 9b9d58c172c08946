import { describe, expect, test } from 'vitest';
import { createArraySplitter } from '../../src/registry/json/array-splitter.js';

function cut(text: string, sizes: () => number = () => Infinity, key = 'credits', options = {}) {
  const splitter = createArraySplitter(key, options);
  const bytes = Buffer.from(text);
  const texts: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = Math.max(1, sizes());
    texts.push(...splitter.push(bytes.subarray(at, at + size)));
    at += size;
  }
  return { texts, envelope: splitter.finish() };
}

test('the elements keep the registry’s own text, digit for digit', () => {
  const row = '{ "amount" : 9007199254740993.10, "x":[1.0,{"credits":[]}] }';
  const { texts } = cut(`{"organizationId":"o","credits":[${row} , ${row}],"pagination":{}}`);
  expect(texts).toEqual([row, row]);
});

test('the list is only taken from the outermost object', () => {
  const { texts } = cut('{"a":{"credits":[{"no":1}]},"b":["credits",[{"no":2}]],"credits":[{"yes":1}]}');
  expect(texts).toEqual(['{"yes":1}']);
});

describe('a list that cannot be trusted is a bad answer', () => {
  test.each([
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
  ])('%s', (_name, text) => {
    expect(() => cut(text)).toThrow(expect.objectContaining({ code: 'bad_answer' }));
  });
});

test.each([
  ['no list', 'object', '{"projects":[]}', 'an object without it'],
  ['null', 'object', '{"credits":null}', 'an object without it'],
  ['an object', 'object', '{"credits":{}}', 'an object without it'],
  ['a list without a name', 'list', '["credits",[{}]]', 'a list without a name'],
])('%s is an answer of another form, which the error carries and does not say', (_name, form, text, came) => {
  expect(() => cut(text)).toThrow(
    expect.objectContaining({
      code: 'other_form',
      answer: { form, text },
      message: `credits: expected a list of this name, got ${came}`,
    }),
  );
});

test('what stands before the list is known once the list has begun', () => {
  const before = (text: string, options = {}) => {
    const splitter = createArraySplitter('credits', options);
    splitter.push(Buffer.from(text));
    return splitter.parseEnvelopeStart();
  };
  expect(before('{"total":3')).toEqual({});
  expect(before('\uFEFF{"total":3,"name":"a\uFEFFb","credits":[{"a":1')).toEqual({
    total: 3,
    name: 'a\uFEFFb',
    credits: [],
  });
  expect(before('{"total":3,"name":"\uFEFFa","credits":[]')).toMatchObject({ total: 3, name: '\uFEFFa' });
  expect(before('[{"a":1},', { allowBareArray: true })).toEqual({});
});

test('a mark of the byte order goes from the beginning alone', () => {
  const { envelope } = cut('\uFEFF{"name":"\uFEFFa","credits":[]}');
  expect(envelope['name']).toBe('\uFEFFa');
  expect(cut('{"name":"\uFEFFa","credits":[]}').envelope['name']).toBe('\uFEFFa');
});

test('around the list 64 levels are as many as may be', () => {
  const around = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)},"credits":[]}`;
  expect(cut(around(63)).texts).toEqual([]);
  expect(() => cut(around(64))).toThrow('no more than 64 levels');
});

test('a second list is seen wherever the first was cut, and none where the name stands deeper', () => {
  const first = '{"credits":[{"a":{"b":1}}],"x":{"credits":[1]}';
  for (let size = 1; size < first.length; size += 1) {
    expect(cut(`${first}}`, () => size).texts).toEqual(['{"a":{"b":1}}']);
    expect(() => cut(`${first},"credits":[]}`, () => size)).toThrow('a second one');
  }
});

test('of a long answer of another form the error carries the beginning', () => {
  const text = `{"projects":"${'x'.repeat(100_000)}"}`;
  expect(() => cut(text)).toThrow(
    expect.objectContaining({ answer: { form: 'object', text: text.slice(0, 4096) } }),
  );
});

test('T47 an element or an envelope deeper than 64 levels is refused where it becomes so', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  expect(cut(`{"credits":[{"x":${nested(63)}}]}`).texts).toHaveLength(1);
  const refused = expect.objectContaining({
    code: 'bad_answer',
    message: expect.stringContaining('64 levels'),
  });
  expect(() => cut(`{"credits":[{"x":${nested(64)}}]}`)).toThrow(refused);
  expect(() => cut(`{"x":${nested(64)},"credits":[]}`)).toThrow(refused);
  expect(() =>
    createArraySplitter('credits').push(Buffer.from(`{"credits":[{"x":${'['.repeat(64)}`)),
  ).toThrow(refused);
});

test('T33 what stands around the list may not grow without end, and neither may one element', () => {
  expect(() => cut(`{"x":"${'y'.repeat(300_000)}","credits":[]}`)).toThrow(
    expect.objectContaining({ code: 'too_large' }),
  );
  expect(() => cut(`{"credits":[{"x":"${'y'.repeat(5_000_000)}"}]}`, () => 65_536)).toThrow(
    expect.objectContaining({ code: 'too_large' }),
  );
});

describe('where a list may be all of the answer', () => {
  const cutBare = (text: string, size = Infinity) =>
    cut(text, () => size, 'credits', { allowBareArray: true });

  test.each(['[{"a":1},{"b":[]}]', ' \n[ {"a":1} , {"b":[]} ]\n', '\uFEFF[{"a":1},{"b":[]}]'])('%j', text => {
    for (const size of [1, 2, 3, Infinity]) {
      const { texts, envelope } = cutBare(text, size);
      expect(texts).toEqual(['{"a":1}', '{"b":[]}']);
      expect(envelope).toEqual({});
    }
  });

  test('one with an object around it is read as ever', () => {
    const { texts, envelope } = cutBare('{"organizationId":"o","other":[{}],"credits":[{"a":1}]}');
    expect(texts).toEqual(['{"a":1}']);
    expect(envelope).toMatchObject({ organizationId: 'o' });
  });

  test.each(['[{}', '[{}]x', '[{}][{}]', '[1]', '[{},]', '[[{}]]', '{"a":1}[{}]'])(
    '%s is a bad answer',
    text => {
      expect(() => cutBare(text)).toThrow(expect.objectContaining({ code: 'bad_answer' }));
    },
  );
});
