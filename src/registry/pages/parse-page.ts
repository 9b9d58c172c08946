import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { createArraySplitter } from '../json/array-splitter.js';
import { MAX_ENVELOPE_BYTES } from '../json/envelope-scanner.js';
import { RegistryError } from '../errors.js';
import { assertWithinLimits, parseCheckedJson, type SourceObject } from '../json/json-object.js';
import { isObject } from '../../text/checks.js';
import { mayHaveTooManyObjects } from '../json/json-text.js';
import type { UnreadableRow } from '../read-types.js';

/** A response without the rows of its list: the list in it is empty. */
type PageEnvelope = Readonly<Record<string, unknown>>;

/** The rows of a page, and the response around them. */
export interface ParsedPage {
  readonly rows: readonly PageRow[];
  /** SHA-256 (hex) of the text of the list. */
  readonly digest: string;
  readonly envelope: PageEnvelope;
}

/** The text of a row as sent, and its parsed JSON value. */
export interface PageRow {
  readonly text: string;
  readonly value: unknown;
}

/** A page whose list an earlier read has seen. It was recognized by its digest, and its rows were not parsed. */
export interface KnownPageMatch extends Pick<ParsedPage, 'digest' | 'envelope'> {
  readonly rowCount: number;
}

/** A registry that does not use pages may send many rows in one response, up to this limit. */
const MAX_ROWS = 10_000;
/** The rows of a larger page are copied, because a slice of the page's text would keep the whole text in memory. */
const MIN_BYTES_TO_COPY_ROWS = 256 * 1024;

/** Splits a page into rows and parses each row as JSON. Throws if there are too many rows. */
export function parsePage(body: Buffer, arrayName: string): ParsedPage {
  const page = splitByPattern(body, arrayName) ?? splitByScanning(body, arrayName);
  if (page.rows.length > MAX_ROWS)
    throw new RegistryError('too_large', `${arrayName}: more than ${MAX_ROWS} rows in one answer`);
  return page;
}

/**
 * Recognizes a page that an earlier read has seen. Compares the SHA-256 digest of the rows, and returns null if
 * `getKnownRowCount` does not know the digest or the rest of the page cannot be parsed.
 */
export function matchKnownPage(
  body: Buffer,
  arrayName: string,
  getKnownRowCount: (pageDigest: string) => number | undefined,
): KnownPageMatch | null {
  const listOpening = formatListOpening(arrayName);
  const listStart = body.indexOf(listOpening) + listOpening.length;
  const listEnd = body.lastIndexOf('}]') + 1;
  if (listStart < listOpening.length || listEnd <= listStart) return null;
  const digest = hash('sha256', body.subarray(listStart, listEnd));
  const rowCount = getKnownRowCount(digest);
  const rest = Buffer.concat([body.subarray(0, listStart), body.subarray(listEnd)]);
  if (rowCount === undefined || rest.length > MAX_ENVELOPE_BYTES || !isUtf8(rest)) return null;
  const envelope = parseEnvelope(rest.toString('utf8'), arrayName);
  return envelope === null ? null : { digest, rowCount, envelope };
}

function formatListOpening(arrayName: string): string {
  return `"${arrayName}":[`;
}

/** Splits a page into rows by scanning every byte. Slow, but correct for all valid JSON. */
function splitByScanning(body: Buffer, arrayName: string): ParsedPage {
  const splitter = createArraySplitter(arrayName);
  const texts = splitter.push(body);
  const rows = texts.map((text, index) => ({
    text,
    value: parseCheckedJson(text, `${arrayName}[${index}]`),
  }));
  return { rows, digest: hash('sha256', texts.join()), envelope: splitter.finish() };
}

/** Splits a page into rows wherever `},{` occurs, which is fast. Returns null if the pieces are not valid rows. */
function splitByPattern(body: Buffer, arrayName: string): ParsedPage | null {
  // If every piece is a JSON object, the split is correct, because the text can be read in only one way.
  if (!isUtf8(body)) return null;
  const text = body.toString('utf8');
  if (mayHaveTooManyObjects(text)) assertWithinLimits(text, arrayName);
  const listOpening = formatListOpening(arrayName);
  const listStart = text.indexOf(listOpening) + listOpening.length;
  if (listStart < listOpening.length) return null;
  const pieces = splitListText(text, listStart);
  if (pieces === null) return null;
  const rows = parseRows(pieces.texts, body.length > MIN_BYTES_TO_COPY_ROWS);
  if (rows === null) return null;
  const { listEnd } = pieces;
  if (text.length - (listEnd - listStart) > MAX_ENVELOPE_BYTES) return null;
  const envelope = parseEnvelope(`${text.slice(0, listStart)}${text.slice(listEnd)}`, arrayName);
  if (envelope === null) return null;
  return { rows, digest: hash('sha256', text.slice(listStart, listEnd)), envelope };
}

interface ListPieces {
  readonly texts: readonly string[];
  /** The offset of the bracket that closes the list. */
  readonly listEnd: number;
}

/**
 * Splits the JSON array whose content begins at `listStart` into row texts, wherever `},{` occurs. Returns null if the closing
 * `}]` is missing.
 */
function splitListText(text: string, listStart: number): ListPieces | null {
  if (text.startsWith(']', listStart)) return { texts: [], listEnd: listStart };
  const texts: string[] = [];
  let at = listStart;
  for (let end = text.indexOf('},{', at); end >= 0; end = text.indexOf('},{', at)) {
    texts.push(text.slice(at, end + 1));
    at = end + 2;
  }
  const lastEnd = text.indexOf('}]', at);
  if (lastEnd < 0) return null;
  texts.push(text.slice(at, lastEnd + 1));
  return { texts, listEnd: lastEnd + 1 };
}

/**
 * Parses row texts as JSON objects, or returns null if one is not an object. With `copyRowTexts`, the texts are copied, so that
 * they do not keep the whole page's text in memory.
 */
function parseRows(texts: readonly string[], copyRowTexts: boolean): readonly PageRow[] | null {
  const rows: PageRow[] = [];
  for (const text of texts) {
    const value = text.startsWith('{') ? parseJsonOrUndefined(text) : undefined;
    if (value === undefined) return null;
    rows.push({ text: copyRowTexts ? copyText(text) : text, value });
  }
  return rows;
}

/** Copies a string, because a slice would keep the whole original string in memory. */
function copyText(text: string): string {
  return Buffer.from(text).toString('utf8');
}

/**
 * Parses the JSON of a page whose rows were removed. Returns null if it is malformed, or if the array `arrayName` is missing or
 * may occur twice.
 */
function parseEnvelope(text: string, arrayName: string): PageEnvelope | null {
  // A backslash could hide the name as an escape sequence.
  const quotedKey = `"${arrayName}"`;
  if (text.includes('\\') || text.indexOf(quotedKey) !== text.lastIndexOf(quotedKey)) return null;
  const value = parseJsonOrUndefined(text);
  return isObject(value) && Array.isArray(value[arrayName]) ? value : null;
}

/** Parses JSON text. Returns undefined if it is malformed. Throws if it is nested too deeply or has too many objects. */
function parseJsonOrUndefined(text: string): unknown {
  assertWithinLimits(text, 'a page');
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Parses a row into a list of one item. For an unreadable row, calls `onUnreadable` and returns `[]`, or throws if `onUnreadable`
 * is undefined.
 */
export function parseRow<T>(
  object: SourceObject,
  parse: (object: SourceObject) => T,
  onUnreadable: ((row: UnreadableRow) => void) | undefined,
): readonly T[] {
  try {
    return [parse(object)];
  } catch (error) {
    if (onUnreadable === undefined || !(error instanceof RegistryError) || error.code !== 'bad_answer')
      throw error;
    onUnreadable({ object, error });
    return [];
  }
}
