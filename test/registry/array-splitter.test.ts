import { describe, expect, test } from 'vitest';
import { createArraySplitter } from '../../src/registry/json/array-splitter.js';

/** Passes a text to an array splitter in chunks, whole by default. */
function splitText(text: string, getChunkSize: () => number = () => Infinity, key = 'credits', options = {}) {
  const splitter = createArraySplitter(key, options);
  const bytes = Buffer.from(text);
  const texts: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = Math.max(1, getChunkSize());
    texts.push(...splitter.push(bytes.subarray(at, at + size)));
    at += size;
  }
  return { texts, envelope: splitter.finish() };
}

test('elements keep the registry’s text, digit for digit', () => {
  const row = '{ "amount" : 9007199254740993.10, "x":[1.0,{"credits":[]}] }';
  const { texts } = splitText(`{"organizationId":"o","credits":[${row} , ${row}],"pagination":{}}`);
  expect(texts).toEqual([row, row]);
});

test('only a list of the outermost object is used', () => {
  const { texts } = splitText(
    '{"a":{"credits":[{"no":1}]},"b":["credits",[{"no":2}]],"credits":[{"yes":1}]}',
  );
  expect(texts).toEqual(['{"yes":1}']);
});

describe('a malformed list is a bad answer', () => {
  test.each([
    ['two lists', '{"credits":[{}],"credits":[{}]}'],
    ['numbers in it', '{"credits":[1]}'],
    ['null in it', '{"credits":[null]}'],
    ['an array in it', '{"credits":[[]]}'],
    ['no comma', '{"credits":[{}{}]}'],
    ['a comma at its end', '{"credits":[{},]}'],
    ['a comma at its beginning', '{"credits":[,{}]}'],
    ['cut in the list', '{"credits":[{},'],
    ['cut in an element', '{"credits":[{"a":'],
    ['cut after the list', '{"credits":[{}]'],
    ['text after it', '{"credits":[]}x'],
    ['nothing', ''],
    ['HTML', '<html>'],
  ])('%s', (_name, text) => {
    expect(() => splitText(text)).toThrow(expect.objectContaining({ code: 'bad_answer' }));
  });
});

test.each([
  ['no list', 'object', '{"projects":[]}', 'an object without it'],
  ['null', 'object', '{"credits":null}', 'an object without it'],
  ['an object', 'object', '{"credits":{}}', 'an object without it'],
  ['a list without a name', 'list', '["credits",[{}]]', 'a list without a name'],
])(
  'an answer with %s throws an error that carries the answer outside its message',
  (_name, shape, text, came) => {
    expect(() => splitText(text)).toThrow(
      expect.objectContaining({
        code: 'other_form',
        answer: { shape, text },
        message: `credits: expected a list of this name, got ${came}`,
      }),
    );
  },
);

test('the part before the list can be parsed once the list has begun', () => {
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

test('only a byte order mark at the beginning is removed', () => {
  const { envelope } = splitText('\uFEFF{"name":"\uFEFFa","credits":[]}');
  expect(envelope['name']).toBe('\uFEFFa');
  expect(splitText('{"name":"\uFEFFa","credits":[]}').envelope['name']).toBe('\uFEFFa');
});

test('an envelope may have 64 levels and no more', () => {
  const around = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)},"credits":[]}`;
  expect(splitText(around(63)).texts).toEqual([]);
  expect(() => splitText(around(64))).toThrow('no more than 64 levels');
});

test('a second list is refused wherever the chunks end, unless it is nested deeper', () => {
  const first = '{"credits":[{"a":{"b":1}}],"x":{"credits":[1]}';
  for (let size = 1; size < first.length; size += 1) {
    expect(splitText(`${first}}`, () => size).texts).toEqual(['{"a":{"b":1}}']);
    expect(() => splitText(`${first},"credits":[]}`, () => size)).toThrow('a second one');
  }
});

test('the error for an unexpected shape carries only the beginning of a long answer', () => {
  const text = `{"projects":"${'x'.repeat(100_000)}"}`;
  expect(() => splitText(text)).toThrow(
    expect.objectContaining({ answer: { shape: 'object', text: text.slice(0, 4096) } }),
  );
});

test('T47 an element or an envelope is refused as soon as it is deeper than 64 levels', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  expect(splitText(`{"credits":[{"x":${nested(63)}}]}`).texts).toHaveLength(1);
  const refused = expect.objectContaining({
    code: 'bad_answer',
    message: expect.stringContaining('64 levels'),
  });
  expect(() => splitText(`{"credits":[{"x":${nested(64)}}]}`)).toThrow(refused);
  expect(() => splitText(`{"x":${nested(64)},"credits":[]}`)).toThrow(refused);
  expect(() =>
    createArraySplitter('credits').push(Buffer.from(`{"credits":[{"x":${'['.repeat(64)}`)),
  ).toThrow(refused);
});

test('T33 an envelope or an element without end is refused', () => {
  expect(() => splitText(`{"x":"${'y'.repeat(300_000)}","credits":[]}`)).toThrow(
    expect.objectContaining({ code: 'too_large' }),
  );
  expect(() => splitText(`{"credits":[{"x":"${'y'.repeat(5_000_000)}"}]}`, () => 65_536)).toThrow(
    expect.objectContaining({ code: 'too_large' }),
  );
});

describe('an answer that may be just an array', () => {
  const splitBare = (text: string, size = Infinity) =>
    splitText(text, () => size, 'credits', { allowBareArray: true });

  test.each(['[{"a":1},{"b":[]}]', ' \n[ {"a":1} , {"b":[]} ]\n', '\uFEFF[{"a":1},{"b":[]}]'])('%j', text => {
    for (const size of [1, 2, 3, Infinity]) {
      const { texts, envelope } = splitBare(text, size);
      expect(texts).toEqual(['{"a":1}', '{"b":[]}']);
      expect(envelope).toEqual({});
    }
  });

  test('is also read with an object around the array', () => {
    const { texts, envelope } = splitBare('{"organizationId":"o","other":[{}],"credits":[{"a":1}]}');
    expect(texts).toEqual(['{"a":1}']);
    expect(envelope).toMatchObject({ organizationId: 'o' });
  });

  test.each(['[{}', '[{}]x', '[{}][{}]', '[1]', '[{},]', '[[{}]]', '{"a":1}[{}]'])(
    'is a bad answer as %s',
    text => {
      expect(() => splitBare(text)).toThrow(expect.objectContaining({ code: 'bad_answer' }));
    },
  );
});
