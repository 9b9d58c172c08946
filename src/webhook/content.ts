import { isUtf8 } from 'node:buffer';
import { isObject } from '../registry/model.js';

export type ContentFault =
  | 'not_base64'
  | 'not_utf8'
  | 'not_json'
  | 'not_an_object'
  | 'nested_too_deep'
  | 'prototype_key'
  | 'duplicate_key';

export type JsonObject = Readonly<Record<string, unknown>>;

export type Content =
  | { readonly text: string; readonly object: JsonObject }
  | { readonly fault: ContentFault };

/** Far beyond what the registry sends, and far below what a reader of the stored text could stumble over. */
const MAX_DEPTH = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const SPACE = 0x20;

/** Decode and parse a signed text. Whatever two readers could understand differently is a fault. */
export function readContent(signedData: string): Content {
  const bytes = Buffer.from(signedData, 'base64');
  if (bytes.length === 0 || bytes.toString('base64') !== signedData) return { fault: 'not_base64' };
  if (!isUtf8(bytes)) return { fault: 'not_utf8' };
  const text = bytes.toString();
  const value = parseJson(text);
  if (value === undefined) return { fault: 'not_json' };
  const fault = findFault(text);
  if (fault !== null) return { fault };
  return isObject(value) ? { text, object: value } : { fault: 'not_an_object' };
}

/** Undefined for a text that is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A member of an object that came from JSON; never what the prototype has. */
export function member(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** One pass over a text that is known to be JSON; strings are jumped over. */
function findFault(text: string): ContentFault | null {
  const open: (Set<string> | null)[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      const keys = open[open.length - 1] ?? null;
      const fault = keys === null || !isKey(text, end) ? null : addKey(keys, text.slice(at + 1, end));
      if (fault !== null) return fault;
      at = end;
    } else if (code === BRACE || code === BRACKET) {
      if (open.length === MAX_DEPTH) return 'nested_too_deep';
      open.push(code === BRACE ? new Set() : null);
    } else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) {
      open.pop();
    }
  }
  return null;
}

function addKey(keys: Set<string>, raw: string): ContentFault | null {
  const key = raw.includes('\\') ? String(JSON.parse(`"${raw}"`)) : raw;
  if (key === '__proto__') return 'prototype_key';
  if (keys.has(key)) return 'duplicate_key';
  keys.add(key);
  return null;
}

/** The index of the quote that ends the string. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

/** Within an object only a key is followed by a colon. */
function isKey(text: string, end: number): boolean {
  let next = end + 1;
  while (text.charCodeAt(next) <= SPACE) next += 1;
  return text.charCodeAt(next) === COLON;
}
