/** A value that a line of evidence may contain. A bigint stands for an integer that a number cannot hold. */
export type JsonValue = string | number | bigint | null | JsonObject;
/** A parsed JSON object. It is a map, because a JavaScript object has inherited names such as "constructor". */
export type JsonObject = ReadonlyMap<string, JsonValue>;

/** Matches a field name with its colon. */
const NAME_PATTERN = /"([a-z][a-z0-9_]*)":/y;
const NUMBER_PATTERN = /-?[0-9][0-9.e+-]*/y;
const INTEGER_PATTERN = /^-?[1-9][0-9]*$/;
/** How deep objects may be nested: a line contains a record, and a record contains no objects. */
const MAX_DEPTH = 2;

/**
 * Parses a text that consists of one JSON object. Returns null unless the text is canonical JSON (RFC 8785): sorted unique
 * names, no spaces, the shortest form of each string and number. There are two additions to the RFC: an integer that a
 * JavaScript number cannot hold is written in full, and an unpaired surrogate is written as its escape. Arrays and booleans are
 * not supported.
 */
export function parseCanonicalJson(text: string): JsonObject | null {
  const parsed = parseObject(text, 0, 1);
  return parsed !== null && parsed.end === text.length ? parsed.value : null;
}

/** A value that was parsed from a part of a text. */
interface Parsed<Value> {
  readonly value: Value;
  /** The offset behind the value. */
  readonly end: number;
}

// Each parser below reads a value at the offset `start`. It returns null if the value is malformed or not canonical.

function parseObject(text: string, start: number, depth: number): Parsed<JsonObject> | null {
  if (text[start] !== '{' || depth > MAX_DEPTH) return null;
  const object = new Map<string, JsonValue>();
  let [offset, previousName] = [start, ''];
  while (text[offset] === (object.size === 0 ? '{' : ',')) {
    NAME_PATTERN.lastIndex = offset + 1;
    const name = NAME_PATTERN.exec(text)?.[1];
    if (name === undefined || name <= previousName) return null;
    const parsed = parseValue(text, NAME_PATTERN.lastIndex, depth);
    if (parsed === null) return null;
    object.set(name, parsed.value);
    [offset, previousName] = [parsed.end, name];
  }
  return text[offset] === '}' ? { value: object, end: offset + 1 } : null;
}

/**
 * Parses the text, number, object or null at the offset `start`. Returns null instead of a parsed value if anything else is
 * there, such as an array or a boolean, or if the value is valid JSON but not canonical.
 */
function parseValue(text: string, start: number, depth: number): Parsed<JsonValue> | null {
  if (text[start] === '"') return parseString(text, start);
  if (text[start] === '{') return parseObject(text, start, depth + 1);
  if (text.startsWith('null', start)) return { value: null, end: start + 'null'.length };
  return parseNumber(text, start);
}

function parseString(text: string, start: number): Parsed<string> | null {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  if (end === -1) return null;
  const token = text.slice(start, end + 1);
  try {
    const value: unknown = JSON.parse(token);
    return typeof value === 'string' && JSON.stringify(value) === token ? { value, end: end + 1 } : null;
  } catch {
    return null;
  }
}

/** Returns true if the character at an index is escaped: an odd number of backslashes precedes it. */
function isEscaped(text: string, index: number): boolean {
  let backslashes = 0;
  while (text[index - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}

function parseNumber(text: string, start: number): Parsed<number | bigint> | null {
  NUMBER_PATTERN.lastIndex = start;
  const token = NUMBER_PATTERN.exec(text)?.[0];
  if (token === undefined) return null;
  const end = NUMBER_PATTERN.lastIndex;
  const number = Number(token);
  if (INTEGER_PATTERN.test(token) && !Number.isSafeInteger(number)) return { value: BigInt(token), end };
  return String(number) === token ? { value: number, end } : null;
}
