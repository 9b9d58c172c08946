import { expect, test } from 'vitest';
import { isId, isObject, isPrintable } from '../../src/text/checks.js';

test.each([
  ['a-Z_0', true],
  ['x'.repeat(128), true],
  ['x'.repeat(129), false],
  ['', false],
  ['../x', false],
  ['x ', false],
  [' x', false],
  [7, false],
])('whether %j is an id: %s', (value, expected) => expect(isId(value)).toBe(expected));

test.each([
  ['exPost 2021/Zoë', true],
  ['x'.repeat(256), true],
  ['x'.repeat(257), false],
  ['', false],
  ['  ', false],
  ['a\nb', false],
  ['\u202ea', false],
  ['a\ud800', false],
  [7, false],
])('whether %j is printable: %s', (value, expected) => expect(isPrintable(value)).toBe(expected));

test.each([
  [{}, true],
  [null, false],
  [[], false],
  ['x', false],
])('whether %j is an object: %s', (value, expected) => expect(isObject(value)).toBe(expected));
