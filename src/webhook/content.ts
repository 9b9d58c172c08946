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

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/g;

/** Decode and parse a signed text. Whatever two readers could understand differently is a fault. */
export function readContent(signedData: string): Content {
  const bytes = Buffer.from(signedData, 'base64');
  if (bytes.length === 0 || bytes.toString('base64') !== signedData) return { fault: 'not_base64' };
  if (!isUtf8(bytes)) return { fault: 'not_utf8' };
  const text = bytes.toString();
  const value = parseJson(text);
  if (value === undefined) return { fault: 'not_json' };
  const fault = findFault(text, value);
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

/** Of members with one name only the last is in the value: the text, without its strings, then has more colons. */
function findFault(text: string, value: unknown): ContentFault | null {
  let members = 0;
  const colons = text.replace(STRING, '').split(':').length - 1;
  return findWithin(value, 0) ?? (colons === members ? null : 'duplicate_key');

  function findWithin(outer: unknown, depth: number): ContentFault | null {
    if (typeof outer !== 'object' || outer === null) return null;
    if (depth === MAX_DEPTH) return 'nested_too_deep';
    if (Object.hasOwn(outer, '__proto__')) return 'prototype_key';
    const values: unknown[] = Object.values(outer);
    if (!Array.isArray(outer)) members += values.length;
    for (const inner of values) {
      const fault = findWithin(inner, depth + 1);
      if (fault !== null) return fault;
    }
    return null;
  }
}
