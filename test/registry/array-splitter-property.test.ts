import { describe, expect, it } from 'vitest';
import { createArraySplitter } from '../../src/registry/json/array-splitter.js';
import { createRandom, pick } from '../support/random.js';

type Random = () => number;

const SPACES = ['', '', '', ' ', '\n', '\t', '\r\n', '   '];
const PIECES = [
  'a',
  'credits',
  'é',
  '水',
  '😀',
  '\\"',
  '\\\\',
  '\\\\\\"',
  '\\u0022',
  '\\u005c',
  '\\ud83d',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\u2028',
  '\u00ff',
  '"'.replace('"', '\\"credits\\":['),
];
const NUMBERS = ['0', '-0', '0.1', '9007199254740993', '1e400', '12.500000000000000000', '-1E-7', '13.5'];

function createRandomString(random: Random): string {
  const length = Math.floor(random() * 6);
  return `"${Array.from({ length }, () => pick(random, PIECES, '')).join('')}"`;
}

/** Formats a JSON array or object with random white space between its items. */
function joinWithRandomSpaces(
  random: Random,
  open: string,
  close: string,
  length: number,
  createItem: () => string,
): string {
  const space = () => pick(random, SPACES, '');
  const items = Array.from({ length }, () => `${space()}${createItem()}${space()}`);
  return `${open}${space()}${items.join(',')}${space()}${close}`;
}

function createRandomValue(random: Random, depth: number): string {
  const kind = random();
  if (depth > 0 && kind < 0.25) return createRandomObject(random, depth - 1, []);
  if (depth > 0 && kind < 0.4)
    return joinWithRandomSpaces(random, '[', ']', Math.floor(random() * 4), () =>
      createRandomValue(random, depth - 1),
    );
  if (kind < 0.6) return pick(random, NUMBERS, '0');
  if (kind < 0.7) return pick(random, ['true', 'false', 'null'], 'null');
  return createRandomString(random);
}

function createRandomObject(random: Random, depth: number, extraMembers: readonly string[]): string {
  let number = 0;
  const name = () =>
    pick(random, ['"id"', '"credits"', '"a\\"b"', '"\\\\"', '""'], '""').replace(/"$/, `${number}"`);
  const members = Array.from({ length: Math.floor(random() * 5) }, () => {
    number += 1;
    return `${name()}${pick(random, SPACES, '')}:${pick(random, SPACES, '')}${createRandomValue(random, depth)}`;
  });
  const place = Math.floor(random() * (members.length + 1));
  const all = [...members.slice(0, place), ...extraMembers, ...members.slice(place)];
  let at = -1;
  return joinWithRandomSpaces(random, '{', '}', all.length, () => {
    at += 1;
    return all[at] ?? '';
  });
}

/** The text of an answer, and the elements of its array `credits`. */
interface RandomAnswer {
  readonly whole: string;
  readonly elements: readonly string[];
}

function createRandomAnswer(random: Random): RandomAnswer {
  const elements = Array.from({ length: Math.floor(random() * 8) }, () => createRandomObject(random, 3, []));
  let at = -1;
  const array = joinWithRandomSpaces(random, '[', ']', elements.length, () => {
    at += 1;
    return elements[at] ?? '';
  });
  const member = `"credits"${pick(random, SPACES, '')}:${pick(random, SPACES, '')}${array}`;
  const whole = `${pick(random, SPACES, '')}${createRandomObject(random, 2, [member])}${pick(random, SPACES, '')}`;
  return { whole, elements };
}

/** Passes the bytes to an array splitter in chunks of random sizes. */
function splitInRandomChunks(random: Random, bytes: Buffer, maxChunkSize: number) {
  const splitter = createArraySplitter('credits');
  const texts: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + Math.floor(random() * maxChunkSize);
    texts.push(...splitter.push(bytes.subarray(at, at + size)));
    at += size;
  }
  return { texts, envelope: splitter.finish() };
}

/** Returns the result in an object; null if the action throws. */
function getValueOrNull<T>(action: () => T): { readonly value: T } | null {
  try {
    return { value: action() };
  } catch {
    return null;
  }
}

describe('the array splitter agrees with JSON.parse', () => {
  for (const largest of [1, 2, 7, 100_000]) {
    it(`on every byte of the elements of 1,500 random answers in chunks of up to ${largest} bytes`, () => {
      const random = createRandom(largest);
      for (let round = 0; round < 1500; round += 1) {
        const { whole, elements } = createRandomAnswer(random);
        const bytes = Buffer.from(whole);
        const parsed: unknown = JSON.parse(whole);
        const { texts, envelope } = splitInRandomChunks(random, bytes, largest);
        expect(texts).toEqual(elements);
        expect({
          ...envelope,
          credits: texts.map(element => JSON.parse(element)),
        }).toEqual(parsed);
      }
    });
  }

  it('on every one of 5,000 damaged answers that it accepts', () => {
    const random = createRandom(99);
    let taken = 0;
    for (let round = 0; round < 5_000; round += 1) {
      const bytes = damageBytes(random, Buffer.from(createRandomAnswer(random).whole));
      const whole = getValueOrNull((): unknown => JSON.parse(strict.decode(bytes)));
      const got = getValueOrNull(() => {
        const { texts, envelope } = splitInRandomChunks(random, bytes, 30);
        return {
          ...envelope,
          credits: texts.map((element): unknown => JSON.parse(element)),
        };
      });
      if (got === null) continue;
      taken += 1;
      expect(got, bytes.toString()).toEqual(whole);
    }
    expect(taken).toBeGreaterThan(100);
  });

  it('and refuses an answer that was cut short, wherever the cut is', () => {
    const random = createRandom(5);
    for (let round = 0; round < 30; round += 1) {
      const bytes = Buffer.from(createRandomAnswer(random).whole.trim());
      for (let length = 0; length < bytes.length; length += 1) {
        expect(getValueOrNull(() => splitInRandomChunks(random, bytes.subarray(0, length), 50))).toBeNull();
      }
    }
  });
});

/** Bytes that are not UTF-8 are not JSON, even if a lenient decoder accepts them. */
const strict = new TextDecoder('utf-8', { fatal: true });
const DAMAGE = Buffer.from('"\\{}[],: 0x\n');

/** Removes, inserts or replaces one byte. */
function damageBytes(random: Random, bytes: Buffer): Buffer {
  const at = Math.floor(random() * bytes.length);
  const anyByte = Math.floor(random() * 256);
  const byte = random() < 0.3 ? anyByte : (DAMAGE[Math.floor(random() * DAMAGE.length)] ?? 0);
  const kind = random();
  if (kind < 0.3) return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]);
  if (kind < 0.6) return Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at)]);
  const copy = Buffer.from(bytes);
  copy[at] = byte;
  return copy;
}
