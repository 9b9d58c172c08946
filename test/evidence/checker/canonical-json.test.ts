import { describe, expect, test } from 'vitest';
import { type JsonObject, parseCanonicalJson } from '../../../src/evidence/checker/canonical-json.js';
import { toCanonicalJson } from '../../../src/evidence/leaf.js';

/** Returns the fields that are no objects. */
function toCells(object: JsonObject | null) {
  const cells = new Map<string, string | number | bigint | null>();
  for (const [name, value] of object ?? [])
    if (typeof value !== 'object' || value === null) cells.set(name, value);
  return Object.fromEntries(cells);
}

describe('parseCanonicalJson', () => {
  test.each([
    ['{"a":1}'],
    ['{"a":-0.5,"b":"x","c":{"d":1e-7}}'],
    ['{"a":1e+21,"b":123456789012345680000}'],
    ['{"a":9007199254740993}'],
    ['{"a":"\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f"}'],
    ['{"a":"\u2028\u2029\u202e\u007f\ufeff\u{1f333}"}'],
    ['{"a":"\\ud800","b":"\\udfff x"}'],
    ['{"constructor":1,"prototype":2}'],
  ])('T93 accepts the canonical text %s', text => {
    const parsed = parseCanonicalJson(text);
    expect(parsed).not.toBeNull();
    if (!text.includes('{"d"')) expect(toCanonicalJson(toCells(parsed))).toBe(text);
  });

  test.each([
    ['', 'no object'],
    ['{}', 'an object without fields'],
    ['[]', 'an array'],
    ['null', 'null'],
    ['{"a":1} ', 'a space behind'],
    [' {"a":1}', 'a space before'],
    ['{"a": 1}', 'a space inside'],
    ['{"a":1,}', 'a comma too many'],
    ['{,"a":1}', 'a comma in front'],
    ['{"a":1', 'no end'],
    ['{"a":1}}', 'an end too many'],
    ['{"b":1,"a":1}', 'names out of order'],
    ['{"a":1,"a":1}', 'a name twice'],
    ['{"A":1}', 'a name in capitals'],
    ['{"__proto__":1}', 'a name with a special meaning'],
    ['{"a":01}', 'a leading zero'],
    ['{"a":1.0}', 'a trailing zero'],
    ['{"a":1e0}', 'an exponent of 0'],
    ['{"a":1E-7}', 'a capital exponent'],
    ['{"a":0.0000001}', 'a fraction that is written as 1e-7'],
    ['{"a":-0}', 'a negative zero'],
    ['{"a":+1}', 'a plus sign'],
    ['{"a":0x1}', 'a hexadecimal number'],
    ['{"a":1e400}', 'infinity'],
    ['{"a":NaN}', 'not a number'],
    ['{"a":"\\u0041"}', 'a letter as an escape'],
    ['{"a":"\\/"}', 'an escaped slash'],
    ['{"a":"\\uD800"}', 'an escape in capitals'],
    ['{"a":"\t"}', 'a control character'],
    ['{"a":"x}', 'no end of a string'],
    ['{"a":"x\\"}', 'an escaped end of a string'],
    ['{"a":true}', 'a truth value'],
    ['{"a":[1]}', 'an array inside'],
    ['{"a":{"b":{"c":1}}}', 'an object too deep'],
  ])('T93 refuses %s (%s)', text => {
    expect(parseCanonicalJson(text)).toBeNull();
  });
});
