/**
 * Reads the fields of JSON objects that the registry sent. Functions named `parse…` take text, `get…` takes one field of a
 * parsed object. What has the wrong shape throws a `RegistryError` with the code `bad_answer` that names the field and
 * never repeats the whole text: it could be a token.
 */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { formatExcerpt, RegistryError } from '../errors.js';
import { findExceededLimit, findMemberText } from './json-text.js';
import { isId, isObject, isPrintable } from '../../text/checks.js';

/** A JSON object that the registry sent: its text as sent, and its members as parsed by `JSON.parse`. */
export interface SourceObject {
  /** Names the object in error messages, such as `retirements[3]`. */
  readonly label: string;
  readonly text: string;
  readonly members: Readonly<Record<string, unknown>>;
}

/** Parses a JSON object; throws `bad_answer` if a field is malformed. */
export type ObjectParser<T> = (object: SourceObject) => T;

/**
 * The names under which a field may be sent; the first name that is present counts. `a.b` means the member `b` of the
 * member `a`.
 */
export type FieldAliases = readonly [string, ...string[]];

/** Creates a `bad_answer` error with the message `field: expected …, got …`. */
export function createBadAnswerError(field: string, expected: string, actual: string): RegistryError {
  return new RegistryError('bad_answer', `${field}: expected ${expected}, got ${actual}`);
}

/** Throws if JSON text is nested too deeply or has too many objects. */
export function assertWithinLimits(text: string, label: string): void {
  const limit = findExceededLimit(text);
  if (limit !== null) throw createBadAnswerError(label, `no more than ${limit}`, 'more');
}

/** Parses JSON text. Throws if the text is malformed, nested too deeply or has too many objects. */
export function parseJson(text: string, label: string): unknown {
  assertWithinLimits(text, label);
  return parseCheckedJson(text, label);
}

/** Parses JSON text whose depth and size the caller has already checked. Throws if the text is malformed. */
export function parseCheckedJson(text: string, label: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw createBadAnswerError(label, 'JSON', describeText(text));
  }
}

/** Describes malformed JSON for an error message. Never quotes the text, because it may be a token. */
function describeText(text: string): string {
  if (text === '') return 'nothing';
  return text.startsWith('<') ? 'an HTML page' : `${text.length} characters that are not complete JSON`;
}

/** Decodes UTF-8 bytes. Throws an error that contains `label` if the bytes are invalid. */
export function decodeUtf8(bytes: Buffer, label: string): string {
  if (!isUtf8(bytes)) throw createBadAnswerError(label, 'UTF-8', 'invalid bytes');
  return bytes.toString('utf8');
}

/** Parses the text of a JSON object. `label` is the object's name in error messages. */
export function parseObject(text: string, label: string): SourceObject {
  return toSourceObject(text, parseJson(text, label), label);
}

/** Combines the text of a JSON object with its parsed value. Throws if the value is not an object. */
export function toSourceObject(text: string, parsedValue: unknown, label: string): SourceObject {
  if (!isObject(parsedValue)) throw createBadAnswerError(label, 'an object', describeType(parsedValue));
  return { label, text, members: parsedValue };
}

/** Parses a JSON object. Also accepts the object inside a wrapper with its name: `{"retirement": {…}}`. */
export function parseWrappedObject(text: string, name: string): SourceObject {
  const object = parseObject(text, name);
  const inner = object.members['id'] === undefined ? getObjectField(object, name) : null;
  return inner ?? object;
}

/** Returns the object in a field together with its JSON text. Returns null if the field is not an object. */
export function getObjectField(object: SourceObject, name: string): SourceObject | null {
  const value = object.members[name];
  if (!isObject(value)) return null;
  const text = findMemberText(object.text, name) ?? '';
  return { label: `${object.label}.${name}`, text, members: value };
}

/** Returns the value of a field if it is an object, or null. */
export function getObjectMembers(
  object: SourceObject,
  name: string,
): Readonly<Record<string, unknown>> | null {
  const value = object.members[name];
  return isObject(value) ? value : null;
}

/** Returns the id in the first field of `aliases` that is present. Throws if the id is missing or malformed. */
export function getRequiredId(object: SourceObject, aliases: FieldAliases): string {
  const value = getFirstPresent(object, aliases);
  if (!isId(value))
    throw createBadAnswerError(`${object.label}.${aliases[0]}`, 'an id', formatExcerpt(value));
  return value;
}

/** Returns the first id in the fields `aliases`, or null if all are empty. Throws for a malformed id. */
export function getOptionalId(object: SourceObject, aliases: FieldAliases): string | null {
  const name = aliases.find(alias => !isAbsentOrEmpty(getField(object, alias)));
  return name === undefined ? null : getRequiredId(object, [name]);
}

/**
 * Returns the printable text in the first field of `aliases` that is present. Throws if there is none or it has unprintable
 * characters.
 */
export function getRequiredPrintable(object: SourceObject, aliases: FieldAliases): string {
  const value = getFirstPresent(object, aliases);
  if (!isPrintable(value))
    throw createBadAnswerError(
      `${object.label}.${aliases[0]}`,
      'an id of printable text',
      formatExcerpt(value),
    );
  return value;
}

/** Returns printable text, or null if the field is missing or empty. Throws if the text is unprintable. */
export function getOptionalPrintable(object: SourceObject, name: string): string | null {
  return isAbsentOrEmpty(object.members[name]) ? null : getRequiredPrintable(object, [name]);
}

function isAbsentOrEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** Returns the first text or number in the fields `aliases`, as text. Returns null if there is none. */
export function getOptionalText(object: SourceObject, aliases: FieldAliases): string | null {
  for (const name of aliases) {
    const text = toText(getField(object, name));
    if (text !== null) return text;
  }
  return null;
}

/** Returns the value of a field. A name such as `project.id` reads the field `id` of the object `project`. */
function getField(object: SourceObject, name: string): unknown {
  const point = name.indexOf('.');
  if (point < 0) return object.members[name];
  return getObjectMembers(object, name.slice(0, point))?.[name.slice(point + 1)];
}

/** Returns text unchanged and converts a number to text. Returns null for any other value. */
export function toText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : null;
}

/** Returns the value of a field if it is a boolean, or null. */
export function getBoolean(object: SourceObject, name: string): boolean | null {
  const value = object.members[name];
  return typeof value === 'boolean' ? value : null;
}

/** Returns the time in a field as an ISO 8601 instant in UTC. Returns null if the field does not hold a time. */
export function getInstant(object: SourceObject, name: string): string | null {
  const value = object.members[name];
  return typeof value === 'string' ? normalizeInstant(value) : null;
}

/**
 * The registry's usual format of a time, which needs no conversion. It allows only days up to the 28th, which every month
 * has.
 */
const NORMAL_INSTANT =
  /^\d{4}-(0[1-9]|1[0-2])-([01][1-9]|10|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

const INSTANT =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?) ?(?:(Z)|([+-]\d\d):?(\d\d)?)?)?$/i;

/** Converts an ISO 8601 time to UTC: `2025-07-01T14:00:00+02:00` → `2025-07-01T12:00:00.000Z`. Null if malformed. */
function normalizeInstant(value: string): string | null {
  // `Date.parse` alone would accept almost any text, so the text is taken apart first.
  if (NORMAL_INSTANT.test(value)) return value;
  const [, date = '', time = '00:00', , zoneHours, zoneMinutes = '00'] = INSTANT.exec(value) ?? [];
  const zone = zoneHours === undefined ? 'Z' : `${zoneHours}:${zoneMinutes}`;
  const atMs = Date.parse(`${date}T${time}${zone}`);
  if (!isCalendarDate(date) || Number.isNaN(atMs)) return null;
  const utc = new Date(atMs).toISOString();
  return /^\d{4}-/.test(utc) ? utc : null;
}

/** Whether a date exists in the calendar. False for 30 February. */
function isCalendarDate(date: string): boolean {
  // `Date.parse` would accept 30 February as a day in March.
  const dayMs = Date.parse(`${date}T00:00Z`);
  return !Number.isNaN(dayMs) && new Date(dayMs).toISOString().startsWith(date);
}

/** Returns a short hash of an object's text, which serves as the id of an object without an id. */
export function hashObjectText(objectText: string): string {
  return createHash('sha256').update(objectText).digest('hex').slice(0, 32);
}

/** Names the JSON type of a value for an error message, such as `null` or `an array`. */
function describeType(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}

/** Returns the value of the first field that is present and not null. `aliases` lists the possible names. */
function getFirstPresent(object: SourceObject, aliases: FieldAliases): unknown {
  for (const name of aliases) {
    const value = getField(object, name) ?? null;
    if (value !== null) return value;
  }
  return getField(object, aliases[0]);
}
