import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { excerpt, RegistryError } from '../errors.js';
import { excessOf, memberText } from './json-text.js';
import { isId, isObject, isPrintable } from '../model.js';

/** One JSON object of the registry: its own text, and its members as `JSON.parse` gave them. */
export interface Source {
  readonly what: string;
  readonly text: string;
  readonly members: Readonly<Record<string, unknown>>;
}

/** All that a member is known by, in their order. With a point in it a name is that of a member's member. */
export type Names = readonly [string, ...string[]];

export function badAnswer(field: string, expected: string, came: string, cause?: unknown): RegistryError {
  return new RegistryError('bad_answer', `${field}: expected ${expected}, came ${came}`, { cause });
}

/** Depth and small objects take a hundred times the memory of their text: such a text is not parsed at all. */
export function demandModest(text: string, what: string): void {
  const excess = excessOf(text);
  if (excess !== null) throw badAnswer(what, `no more than ${excess}`, 'more');
}

export function parseJson(text: string, what: string): unknown {
  demandModest(text, what);
  return parseModest(text, what);
}

/** For a text that was looked at before. */
export function parseModest(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badAnswer(what, 'JSON', describeText(text));
  }
}

/** Never the text itself: it may be a token. */
function describeText(text: string): string {
  if (text === '') return 'nothing';
  return text.startsWith('<') ? 'a page of HTML' : `${text.length} characters that are not whole JSON`;
}

/** JSON is UTF-8. Bytes that are not were damaged on their way: decoding would replace them in silence. */
export function decodeText(bytes: Buffer, what: string): string {
  if (!isUtf8(bytes)) throw badAnswer(what, 'UTF-8', 'bytes that are not');
  return bytes.toString('utf8');
}

export function readSource(text: string, what: string): Source {
  return sourceOf(text, parseJson(text, what), what);
}

/** For a text that was parsed already. */
export function sourceOf(text: string, value: unknown, what: string): Source {
  if (!isObject(value)) throw badAnswer(what, 'an object', kindOf(value));
  return { what, text, members: value };
}

/** Newer answers wrap a single object in its own name. */
export function readWrapped(text: string, name: string): Source {
  const source = readSource(text, name);
  const inner = source.members['id'] === undefined ? memberSource(source, name) : null;
  return inner ?? source;
}

/** A member that is an object, with its own text; null where there is none. */
export function memberSource(source: Source, name: string): Source | null {
  const value = source.members[name];
  if (!isObject(value)) return null;
  return { what: `${source.what}.${name}`, text: memberText(source.text, name) ?? '', members: value };
}

export function member(source: Source, name: string): Readonly<Record<string, unknown>> | null {
  const value = source.members[name];
  return isObject(value) ? value : null;
}

/** By the first of its names that is there. */
export function requiredId(source: Source, names: Names): string {
  const found = firstPresent(source, names);
  if (!isId(found)) throw badAnswer(`${source.what}.${names[0]}`, 'an id', excerpt(found));
  return found;
}

/** Absent, null and empty are no id. Anything else must be one. */
export function optionalId(source: Source, names: Names): string | null {
  const name = names.find(each => !isAbsent(memberAt(source, each)));
  return name === undefined ? null : requiredId(source, [name]);
}

/** For an id that enters no path and no file name. */
export function requiredPrintable(source: Source, names: Names): string {
  const found = firstPresent(source, names);
  if (!isPrintable(found))
    throw badAnswer(`${source.what}.${names[0]}`, 'an id of printable text', excerpt(found));
  return found;
}

export function optionalPrintable(source: Source, name: string): string | null {
  return isAbsent(source.members[name]) ? null : requiredPrintable(source, [name]);
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** By the first of its names under which text stands. */
export function optionalText(source: Source, names: Names): string | null {
  for (const name of names) {
    const text = textOf(memberAt(source, name));
    if (text !== null) return text;
  }
  return null;
}

function memberAt(source: Source, name: string): unknown {
  const point = name.indexOf('.');
  if (point < 0) return source.members[name];
  return member(source, name.slice(0, point))?.[name.slice(point + 1)];
}

/** A number where text was expected is kept as its text. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : null;
}

export function flag(source: Source, name: string): boolean | null {
  const value = source.members[name];
  return typeof value === 'boolean' ? value : null;
}

/** UTC to the millisecond. Text without a zone is taken as UTC, so that the machine's own zone never counts, and a day alone as its midnight. */
export function instant(source: Source, name: string): string | null {
  const value = source.members[name];
  return typeof value === 'string' ? instantOf(value) : null;
}

/** The registry's usual form; up to the 28th every month has the day. */
const ALREADY = /^\d{4}-(0[1-9]|1[0-2])-([01][1-9]|10|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

const INSTANT =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?) ?(?:(Z)|([+-]\d\d):?(\d\d)?)?)?$/i;

/** Written anew before it is parsed: `Date.parse` makes something of almost any text. */
function instantOf(value: string): string | null {
  if (ALREADY.test(value)) return value;
  const [, date = '', time = '00:00', , hours, minutes = '00'] = INSTANT.exec(value) ?? [];
  const atMs = Date.parse(`${date}T${time}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`);
  if (!isDay(date) || Number.isNaN(atMs)) return null;
  const utc = new Date(atMs).toISOString();
  return /^\d{4}-/.test(utc) ? utc : null;
}

/** `Date.parse` takes the 30th of February for a day in March. */
function isDay(date: string): boolean {
  const dayMs = Date.parse(`${date}T00:00Z`);
  return !Number.isNaN(dayMs) && new Date(dayMs).toISOString().startsWith(date);
}

export function hashOf(objectText: string): string {
  return createHash('sha256').update(objectText).digest('hex').slice(0, 32);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}

function firstPresent(source: Source, names: Names): unknown {
  for (const name of names) {
    const found = memberAt(source, name) ?? null;
    if (found !== null) return found;
  }
  return memberAt(source, names[0]);
}
