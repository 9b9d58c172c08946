import { createElementScanner } from './element-scanner.js';
import { createEnvelopeScanner } from './envelope-scanner.js';
import { createBadAnswerError } from './json-object.js';

const COMMA = 0x2c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;

/**
 * Creates a splitter that extracts the elements of one array from JSON chunks, which must be pushed in order. With
 * `allowBareArray`, the JSON may be just an array.
 */
export function createArraySplitter(arrayName: string, { allowBareArray = false } = {}) {
  const envelope = createEnvelopeScanner(arrayName, allowBareArray);
  const separators = createSeparatorScanner(arrayName);
  const element = createElementScanner(arrayName);
  let position: 'envelope' | 'array' | 'element' = 'envelope';

  /**
   * Scans a chunk to the next boundary: a bracket of the array, or the start or end of an element. Returns the offset there, or
   * null at the end of the chunk, and appends the text of a completed element to `elementTexts`.
   */
  function scanNext(chunk: Buffer, startOffset: number, elementTexts: string[]): number | null {
    if (position === 'envelope') {
      const arrayStart = envelope.findArray(chunk, startOffset);
      if (arrayStart !== null) position = 'array';
      return arrayStart;
    }
    if (position === 'array') {
      const next = separators.findNextElement(chunk, startOffset);
      if (next !== null) position = chunk[next] === OPEN_OBJECT ? 'element' : 'envelope';
      return next;
    }
    const end = element.findEnd(chunk, startOffset);
    if (end !== null) {
      elementTexts.push(element.takeText(chunk.subarray(startOffset, end)));
      position = 'array';
    }
    return end;
  }

  return {
    /** Scans the next chunk of the JSON. Returns the texts of the array elements that end in this chunk. */
    push(chunk: Buffer): string[] {
      const texts: string[] = [];
      let at: number | null = 0;
      while (at !== null && at < chunk.length) at = scanNext(chunk, at, texts);
      return texts;
    },
    /** Parses the part of the object before the array. Empty before the array has begun. */
    parseEnvelopeStart: envelope.parseStart,
    /** Parses the object, in which the array is empty. Throws if the array is missing or the response is cut short. */
    finish: envelope.parseWhole,
  };
}

/** Creates a scanner that finds the next element of an array. The scanner skips commas and white space. */
function createSeparatorScanner(arrayName: string) {
  let expected: 'first element' | 'element' | 'comma' = 'first element';

  return {
    /**
     * Returns the offset of the next array element or of the array's closing bracket, or null if the chunk contains neither.
     * Chunks must be passed in order, because the scanner remembers whether a comma must follow.
     */
    findNextElement(chunk: Buffer, startOffset: number): number | null {
      for (let at = startOffset; at < chunk.length; at += 1) {
        const byte = chunk[at] ?? 0;
        if (byte === OPEN_OBJECT && expected !== 'comma') {
          expected = 'comma';
          return at;
        }
        if (byte === CLOSE_ARRAY && expected !== 'element') return at;
        if (byte === COMMA && expected === 'comma') expected = 'element';
        else if (!isJsonSpace(byte))
          throw createBadAnswerError(arrayName, 'a list of objects', 'another kind of element');
      }
      return null;
    },
  };
}

function isJsonSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
