import { badAnswer, decodeText, parseModest } from './fields.js';
import { isObject } from '../model.js';
import { type OtherAnswer, RegistryError } from '../errors.js';
import { MAX_DEPTH } from './json-text.js';

/** What stands around the array may not grow without end, and neither may one element. */
export const MAX_ENVELOPE_BYTES = 256 * 1024;
const MAX_ELEMENT_BYTES = 256 * 1024;
/** Characters of an answer of another form that its error keeps. */
const MAX_KEPT = 4096;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** What JSON takes for white space. */
function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function tooDeep(key: string): RegistryError {
  return badAnswer(key, `no more than ${MAX_DEPTH} levels`, 'more');
}

function otherForm(key: string, form: OtherAnswer['form'], text: string): RegistryError {
  const answer = { form, text: text.slice(0, MAX_KEPT) };
  const came = form === 'object' ? 'an object without it' : 'a list without a name';
  return new RegistryError('other_form', `${key}: expected a list of this name, came ${came}`, { answer });
}

/**
 * Cuts the array `key` of a JSON object into the raw texts of its elements as the bytes stream in.
 * It only looks for ends: each element and the envelope are checked when they are parsed.
 * With `bare` the list may also be all of the answer, without an object around it.
 */
export function createElementCutter(key: string, { bare = false } = {}) {
  const quotedKey = `"${key}"`;
  const envelope: Buffer[] = [];
  let envelopeBytes = 0;
  let partsBefore = 0;
  let carried: Buffer[] = [];
  let carriedBytes = 0;

  let place: 'envelope' | 'array' | 'element' = 'envelope';
  let depth = 0;
  let inString = false;
  let escaped = false;
  let word = '';
  let memberName = '';
  let isBare = false;
  let expected: 'first' | 'element' | 'comma' = 'first';

  let hasArray = false;

  function keep(part: Buffer): void {
    envelopeBytes += part.length;
    if (envelopeBytes > MAX_ENVELOPE_BYTES)
      throw new RegistryError('too_large', `${key}: too much around the list`);
    envelope.push(Buffer.from(part));
  }

  function walkEnvelope(chunk: Buffer, from: number): number {
    let at = from;
    while (at < chunk.length) {
      const byte = chunk[at] ?? 0;
      at += 1;
      if (inString) {
        noteString(byte);
        continue;
      }
      if (byte === QUOTE) {
        inString = true;
        word = '"';
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        depth += 1;
        if (depth > MAX_DEPTH) throw tooDeep(key);
        isBare ||= bare && byte === OPEN_ARRAY && depth === 1 && !hasArray;
        if (byte === OPEN_ARRAY && (isBare || (depth === 2 && memberName === quotedKey))) {
          openArray();
          break;
        }
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        depth -= 1;
      } else if (byte === COLON && depth === 1) memberName = word;
    }
    keep(chunk.subarray(from, at));
    if (place === 'array') partsBefore = envelope.length;
    return at;
  }

  function noteString(byte: number): void {
    if (depth === 1 && word.length <= quotedKey.length) word += String.fromCharCode(byte);
    if (escaped) escaped = false;
    else if (byte === BACKSLASH) escaped = true;
    else if (byte === QUOTE) inString = false;
  }

  function openArray(): void {
    if (hasArray) throw badAnswer(key, 'one list', 'a second one');
    hasArray = true;
    place = 'array';
  }

  function walkArray(chunk: Buffer, from: number): number {
    let at = from;
    while (at < chunk.length) {
      const byte = chunk[at] ?? 0;
      if (byte === OPEN_OBJECT && expected !== 'comma') {
        place = 'element';
        return at;
      }
      if (byte === CLOSE_ARRAY && expected !== 'element') {
        place = 'envelope';
        depth = isBare ? 1 : 2;
        return at;
      }
      if (byte === COMMA && expected === 'comma') expected = 'element';
      else if (!isSpace(byte)) throw badAnswer(key, 'a list of objects', 'something else in it');
      at += 1;
    }
    return at;
  }

  /** The hot loop: four fifths of all bytes pass here. */
  function walkElement(chunk: Buffer, from: number, found: string[]): number {
    const { length } = chunk;
    let at = from;
    let nesting = carriedBytes === 0 ? 0 : depth;
    let quoted = inString;
    if (escaped) {
      escaped = false;
      at += 1;
    }
    while (at < length) {
      const byte = chunk[at];
      at += 1;
      if (quoted) {
        if (byte === QUOTE) quoted = false;
        else if (byte === BACKSLASH) at += 1;
      } else if (byte === QUOTE) quoted = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        nesting += 1;
        if (nesting > MAX_DEPTH) throw tooDeep(key);
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        nesting -= 1;
        if (nesting === 0) {
          found.push(take(chunk, from, at));
          place = 'array';
          expected = 'comma';
          return at;
        }
      }
    }
    depth = nesting;
    inString = quoted;
    escaped = at > length;
    carry(chunk.subarray(from));
    return length;
  }

  function carry(part: Buffer): void {
    carriedBytes += part.length;
    if (carriedBytes > MAX_ELEMENT_BYTES)
      throw new RegistryError('too_large', `${key}: one element is too large`);
    carried.push(part);
  }

  function take(chunk: Buffer, from: number, to: number): string {
    inString = false;
    if (carriedBytes === 0) return decodeText(chunk.subarray(from, to), key);
    carried.push(chunk.subarray(from, to));
    const whole = Buffer.concat(carried);
    carried = [];
    carriedBytes = 0;
    return decodeText(whole, key);
  }

  return {
    /** The raw texts of the elements that ended in this chunk. */
    push(chunk: Buffer): string[] {
      const found: string[] = [];
      let at = 0;
      while (at < chunk.length) {
        if (place === 'envelope') at = walkEnvelope(chunk, at);
        else if (place === 'array') at = walkArray(chunk, at);
        else at = walkElement(chunk, at, found);
      }
      return found;
    },
    /** What stands before the array, parsed; nothing before the array began. */
    before(): Readonly<Record<string, unknown>> {
      const around = `the answer before ${key}`;
      const text = decodeText(Buffer.concat(envelope.slice(0, partsBefore)), around);
      const value =
        partsBefore === 0 || isBare ? {} : parseModest(`${text.replace(/^\uFEFF/, '')}]}`, around);
      return isObject(value) ? value : {};
    },
    /** Everything but the array, parsed; fails if the array never came or the text is cut short. */
    end(): Readonly<Record<string, unknown>> {
      const around = `the answer around ${key}`;
      const text = decodeText(Buffer.concat(envelope), around).replace(/^\uFEFF/, '');
      const value = parseModest(text, around);
      if (isBare) return {};
      if (Array.isArray(value)) throw otherForm(key, 'list', text);
      if (!isObject(value)) throw badAnswer(around, 'an object', 'something else');
      if (!hasArray || !Array.isArray(value[key])) throw otherForm(key, 'object', text);
      return value;
    },
  };
}
