import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { createElementCutter, MAX_ENVELOPE_BYTES } from '../json/elements.js';
import { RegistryError } from '../errors.js';
import { demandModest, parseModest } from '../json/fields.js';
import { isObject } from '../model.js';
import { mayBeCrowded } from '../json/json-text.js';

export interface CutPage {
  readonly elements: readonly Element[];
  /** SHA-256 in hex of the text of the list. */
  readonly digest: string;
  /** Everything but the list, which stands in it empty. */
  readonly envelope: Readonly<Record<string, unknown>>;
}

/** A page whose list is known: it is not cut. */
export interface KnownPage extends Pick<CutPage, 'digest' | 'envelope'> {
  readonly rows: number;
}

export interface Element {
  readonly text: string;
  readonly value: unknown;
}

/** A registry that knows no pages may answer many rows at once, but not without end. */
const MAX_ROWS = 10_000;
/** Of a larger page the rows are copies: one of them that is kept would keep the whole text. */
const LARGE = 256 * 1024;

/** Cuts a whole page into the raw texts of its elements, each parsed. */
export function cutPage(body: Buffer, key: string): CutPage {
  const page = cutByParsing(body, key) ?? cutByWalking(body, key);
  if (page.elements.length > MAX_ROWS)
    throw new RegistryError('too_large', `${key}: more than ${MAX_ROWS} rows in one answer`);
  return page;
}

/**
 * A list that was cut before is known by the bytes from where it begins to the last place that may end one. What is around
 * them has to be an answer in whose place for the list these bytes stand. Null for any other page.
 */
export function knownPage(
  body: Buffer,
  key: string,
  rowsOf: (digest: string) => number | undefined,
): KnownPage | null {
  const mark = markOf(key);
  const from = body.indexOf(mark) + mark.length;
  const end = body.lastIndexOf('}]') + 1;
  if (from < mark.length || end <= from) return null;
  const digest = hash('sha256', body.subarray(from, end));
  const rows = rowsOf(digest);
  const around = Buffer.concat([body.subarray(0, from), body.subarray(end)]);
  if (rows === undefined || around.length > MAX_ENVELOPE_BYTES || !isUtf8(around)) return null;
  const envelope = readEnvelope(around.toString('utf8'), key);
  return envelope === null ? null : { digest, rows, envelope };
}

function markOf(key: string): string {
  return `"${key}":[`;
}

function cutByWalking(body: Buffer, key: string): CutPage {
  const cutter = createElementCutter(key);
  const elements = cutter
    .push(body)
    .map((text, index) => ({ text, value: parseModest(text, `${key}[${index}]`) }));
  const digest = hash('sha256', elements.map(({ text }) => text).join());
  return { elements, digest, envelope: cutter.end() };
}

/**
 * Cuts wherever `},{` stands and lets `JSON.parse` judge: if each piece is an object, then the list is
 * exactly these pieces, for there is only one way to read it. Null where a piece is not, and all is walked.
 */
function cutByParsing(body: Buffer, key: string): CutPage | null {
  if (!isUtf8(body)) return null;
  const text = body.toString('utf8');
  if (mayBeCrowded(text)) demandModest(text, key);
  const mark = markOf(key);
  const start = text.indexOf(mark) + mark.length - 1;
  if (start < mark.length - 1) return null;
  const keep = body.length > LARGE ? copyOf : asIs;
  const elements: Element[] = [];
  let at = start + 1;
  if (text.startsWith(']', at)) at -= 1;
  else {
    for (let next = text.indexOf('},{', at); next >= 0; next = text.indexOf('},{', at)) {
      if (!take(elements, text.slice(at, next + 1), keep)) return null;
      at = next + 2;
    }
    const last = text.indexOf('}]', at);
    if (last < 0 || !take(elements, text.slice(at, last + 1), keep)) return null;
    at = last;
  }
  if (text.length - (at - start) > MAX_ENVELOPE_BYTES) return null;
  const envelope = readEnvelope(`${text.slice(0, start)}[]${text.slice(at + 2)}`, key);
  if (envelope === null) return null;
  return { elements, digest: hash('sha256', text.slice(start + 1, at + 1)), envelope };
}

function take(elements: Element[], text: string, keep: (text: string) => string): boolean {
  const value = text.startsWith('{') ? tryParse(text) : undefined;
  if (value === undefined) return false;
  elements.push({ text: keep(text), value });
  return true;
}

function asIs(text: string): string {
  return text;
}

function copyOf(text: string): string {
  return Buffer.from(text).toString('utf8');
}

/** The name may stand only once and in plain letters, else the list might be another one. */
function readEnvelope(text: string, key: string): CutPage['envelope'] | null {
  const quoted = `"${key}"`;
  if (text.includes('\\') || text.indexOf(quoted) !== text.lastIndexOf(quoted)) return null;
  const value = tryParse(text);
  return isObject(value) && Array.isArray(value[key]) ? value : null;
}

/** Undefined for what is no JSON. */
function tryParse(text: string): unknown {
  demandModest(text, 'a page');
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
