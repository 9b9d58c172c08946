import { isUtf8 } from 'node:buffer';
import { isObject } from '../text/checks.js';

/** Why the content of a signed text cannot be used. */
export type ContentFault =
  | 'not_base64'
  | 'not_utf8'
  | 'not_json'
  | 'not_an_object'
  | 'nested_too_deep'
  | 'prototype_key'
  | 'duplicate_key';

/** A parsed JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The decoded signed text and its JSON object, or why it cannot be used. */
export type ParsedContent =
  | { readonly text: string; readonly object: JsonObject }
  | { readonly fault: ContentFault };

/** Far more than the registry sends, and shallow enough for any program that reads the stored text. */
const MAX_DEPTH = 64;

const STRING_LITERAL = /"[^"\\]*(?:\\.[^"\\]*)*"/g;

/** Decodes a signed text from base64 and parses its JSON. Returns a fault for ambiguous JSON, such as duplicate keys. */
export function parseContent(signedData: string): ParsedContent {
  const bytes = Buffer.from(signedData, 'base64');
  if (bytes.length === 0 || bytes.toString('base64') !== signedData) return { fault: 'not_base64' };
  if (!isUtf8(bytes)) return { fault: 'not_utf8' };
  const text = bytes.toString();
  const value = parseJson(text);
  if (value === undefined) return { fault: 'not_json' };
  const fault = findAmbiguity(text, value);
  if (fault !== null) return { fault };
  return isObject(value) ? { text, object: value } : { fault: 'not_an_object' };
}

/** Parses JSON. Returns undefined for invalid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns an own property of a parsed JSON object. Returns undefined if the property or the object does not exist. */
export function getMember(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Returns a fault if other parsers may read this JSON differently, for example with duplicate keys. Otherwise null. */
function findAmbiguity(text: string, value: unknown): ContentFault | null {
  // JSON.parse keeps only the last of duplicate keys, so the text then has more colons outside of strings than the
  // value has members.
  let memberCount = 0;
  const colonCount = text.replace(STRING_LITERAL, '').split(':').length - 1;
  return findNestedFault(value, 0) ?? (colonCount === memberCount ? null : 'duplicate_key');

  /** Searches a value and its nested values for a fault, such as too deep nesting. Counts object members in `memberCount`. */
  function findNestedFault(outer: unknown, depth: number): ContentFault | null {
    if (typeof outer !== 'object' || outer === null) return null;
    if (depth === MAX_DEPTH) return 'nested_too_deep';
    if (Object.hasOwn(outer, '__proto__')) return 'prototype_key';
    const values: unknown[] = Object.values(outer);
    if (!Array.isArray(outer)) memberCount += values.length;
    for (const inner of values) {
      const fault = findNestedFault(inner, depth + 1);
      if (fault !== null) return fault;
    }
    return null;
  }
}
