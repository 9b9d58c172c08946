/**
 * Finds the text of one member of a JSON object without losing a digit.
 * It expects text that `JSON.parse` has taken: it looks for ends, it does not check.
 */
export function memberText(text: string, name: string): string | null {
  let at = skipSpace(text, text.indexOf('{') + 1);
  let found: string | null = null;
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = valueEnd(text, at);
    const key: unknown = JSON.parse(text.slice(at, keyEnd));
    const start = skipSpace(text, text.indexOf(':', keyEnd) + 1);
    const end = valueEnd(text, start);
    if (key === name) found = text.slice(start, end);
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return found;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

function skipSpace(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) <= 0x20) at += 1;
  return at;
}

function valueEnd(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return stringEnd(text, start);
  if (first === 0x7b || first === 0x5b) return nestedEnd(text, start);
  let at = start;
  while (at < text.length && !/[\s,\]}]/.test(text.charAt(at))) at += 1;
  return at;
}

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** As deep as a delivery may be, and far below what a reader of a stored document could stumble over. */
export const MAX_DEPTH = 64;
/** Ten for each row of the longest page. Of 2 MB that are nothing else, 100 MB are made. */
const MAX_OBJECTS = 100_000;

/** What a text has too much of, JSON or not; asked before anything is made of it. Null where it is modest. */
export function excessOf(text: string): string | null {
  return opensMore(text, MAX_DEPTH) ? walkExcess(text) : null;
}

/** Whether a text may have too many objects: those in its strings count too, which is much faster. */
export function mayBeCrowded(text: string): boolean {
  return opensMore(text, MAX_OBJECTS);
}

function opensMore(text: string, most: number): boolean {
  let opened = 0;
  for (const open of ['{', '[']) {
    for (let at = text.indexOf(open); at >= 0; at = text.indexOf(open, at + 1)) {
      opened += 1;
      if (opened > most) return true;
    }
  }
  return false;
}

function walkExcess(text: string): string | null {
  let depth = 0;
  let objects = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at) - 1;
    else if (code === 0x7d || code === 0x5d) depth -= 1;
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      objects += 1;
      if (depth > MAX_DEPTH) return `${MAX_DEPTH} levels`;
      if (objects > MAX_OBJECTS) return `${MAX_OBJECTS} objects`;
    }
  }
  return null;
}

function nestedEnd(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at);
      continue;
    }
    if (code === 0x7b || code === 0x5b) depth += 1;
    if (code === 0x7d || code === 0x5d) depth -= 1;
    at += 1;
    if (depth === 0) break;
  }
  return at;
}
