const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/** Returns the text of one member of valid JSON: `{"a": 1.50}` → `1.50`. Returns null if the member is missing. */
export function findMemberText(objectText: string, memberName: string): string | null {
  let at = skipSpace(objectText, objectText.indexOf('{') + 1);
  let memberText: string | null = null;
  while (objectText.charCodeAt(at) === QUOTE) {
    const keyEnd = findValueEnd(objectText, at);
    const key: unknown = JSON.parse(objectText.slice(at, keyEnd));
    const start = skipSpace(objectText, objectText.indexOf(':', keyEnd) + 1);
    const end = findValueEnd(objectText, start);
    // If several members have this name, the last one counts, as in `JSON.parse`.
    if (key === memberName) memberText = objectText.slice(start, end);
    at = skipSpace(objectText, end);
    if (objectText.charCodeAt(at) === COMMA) at = skipSpace(objectText, at + 1);
  }
  return memberText;
}

/** Returns the index of the first character at or after `start` that is not white space. */
function skipSpace(text: string, start: number): number {
  let at = start;
  while (text.charCodeAt(at) <= 0x20) at += 1;
  return at;
}

/** Returns the index after the JSON value that begins at `start`. */
function findValueEnd(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return findStringEnd(text, start);
  if (isOpeningBracket(first)) return findBracketEnd(text, start);
  let at = start;
  while (at < text.length && !/[\s,\]}]/.test(text.charAt(at))) at += 1;
  return at;
}

/** Returns the index after the JSON string that begins at `start`. */
function findStringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** Returns the index after the JSON object or array that begins at `start`. */
function findBracketEnd(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const charCode = text.charCodeAt(at);
    if (charCode === QUOTE) {
      at = findStringEnd(text, at);
      continue;
    }
    if (isOpeningBracket(charCode)) depth += 1;
    if (isClosingBracket(charCode)) depth -= 1;
    at += 1;
    if (depth === 0) break;
  }
  return at;
}

function isOpeningBracket(charCode: number): boolean {
  return charCode === 0x7b || charCode === 0x5b;
}

function isClosingBracket(charCode: number): boolean {
  return charCode === 0x7d || charCode === 0x5d;
}

/**
 * The maximum depth of JSON. It is the same for deliveries, and far below the depth at which a reader of a stored
 * document could fail.
 */
export const MAX_DEPTH = 64;
/** The maximum number of objects: ten for each row of the longest page. 2 MB of empty objects would take 100 MB of memory. */
const MAX_OBJECTS = 100_000;

/** Returns the limit that JSON text exceeds, such as `64 levels`, or null if none. Fast for texts with few brackets. */
export function findExceededLimit(text: string): string | null {
  const mayExceed = hasMoreBracketsThan(text, MAX_DEPTH);
  return mayExceed ? describeExceededLimit(text) : null;
}

/** Whether JSON text may have too many objects. A fast estimate that is never too low. */
export function mayHaveTooManyObjects(text: string): boolean {
  return hasMoreBracketsThan(text, MAX_OBJECTS);
}

/** Whether a text has more opening brackets than the limit. Counts brackets inside strings too. */
function hasMoreBracketsThan(text: string, limit: number): boolean {
  let count = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      count += 1;
      if (count > limit) return true;
    }
  }
  return false;
}

/** Returns the limit that JSON text exceeds, such as `64 levels`, or null if none. Scans the whole text. */
function describeExceededLimit(text: string): string | null {
  let depth = 0;
  let objects = 0;
  for (let at = 0; at < text.length; at += 1) {
    const charCode = text.charCodeAt(at);
    if (charCode === QUOTE) at = findStringEnd(text, at) - 1;
    else if (isClosingBracket(charCode)) depth -= 1;
    else if (isOpeningBracket(charCode)) {
      depth += 1;
      objects += 1;
      if (depth > MAX_DEPTH) return `${MAX_DEPTH} levels`;
      if (objects > MAX_OBJECTS) return `${MAX_OBJECTS} objects`;
    }
  }
  return null;
}
