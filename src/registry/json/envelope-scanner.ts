import { createBadAnswerError, decodeUtf8, parseCheckedJson } from './json-object.js';
import { isObject } from '../../text/checks.js';
import { RegistryError, type UnexpectedAnswer } from '../errors.js';
import { MAX_DEPTH } from './json-text.js';

/** The largest envelope. The envelope is the whole response except the rows of its list. */
export const MAX_ENVELOPE_BYTES = 256 * 1024;
/** How many characters of an unexpected response the error carries. */
const MAX_ANSWER_CHARACTERS = 4096;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The members of a response. The array that was searched for is left out or empty. */
type Envelope = Readonly<Record<string, unknown>>;

/** Creates a scanner that finds a named array in streamed JSON. Stores the envelope: all bytes outside the array. */
export function createEnvelopeScanner(arrayName: string, allowBareArray: boolean) {
  const quotedArrayName = `"${arrayName}"`;
  const parts: Buffer[] = [];
  let bytes = 0;
  let partsBeforeArray = 0;

  let depth = 0;
  let inString = false;
  let isEscaped = false;
  /** The last string of the outermost object, with its quotes, as far as it may be the array's name. */
  let lastString = '';
  let memberName = '';
  let isBareArray = false;
  let hasArray = false;

  /**
   * Scans a chunk for the array's opening bracket, and stores the scanned bytes as a part of the envelope. Returns the offset
   * after the bracket, or null if the chunk does not contain it.
   */
  function findArray(chunk: Buffer, startOffset: number): number | null {
    for (let at = startOffset; at < chunk.length; at += 1) {
      const opensArray = scanByte(chunk[at] ?? 0);
      if (!opensArray) continue;
      if (hasArray) throw createBadAnswerError(arrayName, 'one list', 'a second one');
      hasArray = true;
      keepEnvelopePart(chunk.subarray(startOffset, at + 1));
      partsBeforeArray = parts.length;
      return at + 1;
    }
    keepEnvelopePart(chunk.subarray(startOffset));
    return null;
  }

  /** Scans the next byte of the response and updates the scanner's state. Returns true if the byte opens the requested array. */
  function scanByte(byte: number): boolean {
    if (inString) scanStringByte(byte);
    else if (byte === QUOTE) {
      inString = true;
      lastString = '"';
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      depth += 1;
      if (depth > MAX_DEPTH)
        throw createBadAnswerError(arrayName, `no more than ${MAX_DEPTH} levels`, 'more');
      return byte === OPEN_ARRAY && isTargetArray();
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth -= 1;
    else if (byte === COLON && depth === 1) memberName = lastString;
    return false;
  }

  /** Scans one byte of a JSON string. Stores the string, because it may be the name of the array. */
  function scanStringByte(byte: number): void {
    if (depth === 1 && lastString.length <= quotedArrayName.length) lastString += String.fromCharCode(byte);
    if (isEscaped) isEscaped = false;
    else if (byte === BACKSLASH) isEscaped = true;
    else if (byte === QUOTE) inString = false;
  }

  /** Whether the `[` that was just scanned opens the requested array. With `allowBareArray`, the whole response may be that array. */
  function isTargetArray(): boolean {
    if (allowBareArray && depth === 1 && !hasArray) isBareArray = true;
    return isBareArray || (depth === 2 && memberName === quotedArrayName);
  }

  /** Stores bytes of the response that precede or follow its array of items. Throws if the stored bytes exceed the limit. */
  function keepEnvelopePart(part: Buffer): void {
    bytes += part.length;
    if (bytes > MAX_ENVELOPE_BYTES)
      throw new RegistryError(
        'too_large',
        `${arrayName}: the answer around the list is larger than ${MAX_ENVELOPE_BYTES} bytes`,
      );
    // Copied, because the part would keep its whole chunk in memory.
    parts.push(Buffer.from(part));
  }

  /**
   * Parses the part of the response before the array: `{"total":5,"rows":[` → `{ total: 5, rows: [] }`. Returns `{}`
   * until the array is found.
   */
  function parseEnvelopeStart(): Envelope {
    // Before the array is found, nothing is known.
    if (partsBeforeArray === 0 || isBareArray) return {};
    const label = `the answer before ${arrayName}`;
    const text = removeByteOrderMark(decodeUtf8(Buffer.concat(parts.slice(0, partsBeforeArray)), label));
    const value = parseCheckedJson(`${text}]}`, label);
    return isObject(value) ? value : {};
  }

  /** Parses the complete response except the elements of its array. Throws if the array is missing or the JSON is incomplete. */
  function parseWholeEnvelope(): Envelope {
    const label = `the answer around ${arrayName}`;
    const text = removeByteOrderMark(decodeUtf8(Buffer.concat(parts), label));
    const value = parseCheckedJson(text, label);
    if (isBareArray) return {};
    if (Array.isArray(value)) throw createUnexpectedShapeError(arrayName, 'list', text);
    if (!isObject(value)) throw createBadAnswerError(label, 'an object', 'something else');
    if (!hasArray || !Array.isArray(value[arrayName]))
      throw createUnexpectedShapeError(arrayName, 'object', text);
    return value;
  }

  return { findArray, parseStart: parseEnvelopeStart, parseWhole: parseWholeEnvelope };
}

function removeByteOrderMark(text: string): string {
  return text.replace(/^\uFEFF/, '');
}

/**
 * Creates the error for a response that is a list or object (`shape`) without the array `arrayName`. The error contains the
 * beginning of the response.
 */
function createUnexpectedShapeError(
  arrayName: string,
  shape: UnexpectedAnswer['shape'],
  text: string,
): RegistryError {
  const answer = { shape, text: text.slice(0, MAX_ANSWER_CHARACTERS) };
  const actual = shape === 'object' ? 'an object without it' : 'a list without a name';
  const message = `${arrayName}: expected a list of this name, got ${actual}`;
  return new RegistryError('other_form', message, { answer });
}
