import type { Answer, Call, Http } from '../http/calls.js';
import { cutPage } from './cut-page.js';
import { badAnswer, decodeText, readWrapped, type Source, sourceOf } from '../json/fields.js';
import { isSameId, readOwner } from '../owner.js';
import { type Download, type DownloadOptions, observed, type ReadOptions } from '../reading.js';
import { parseRow } from './rows.js';

const MAX_CERTIFICATE_BYTES = 50 * 1024 * 1024;

export interface One<T> {
  readonly name: string;
  readonly parse: (source: Source) => T;
  /** The id that was asked for, where the answer must have it. */
  readonly id?: string;
}

/** Reads one object, bare or wrapped in its own name. */
export async function readOne<T extends { readonly id: string }>(
  http: Http,
  call: Call,
  { name, parse, id }: One<T>,
  options: ReadOptions = {},
): Promise<T> {
  const one = readWritten(await http.call({ ...call, ...observed(options) }), { name, parse });
  if (id !== undefined && !isSameId(one.id, id))
    throw badAnswer(name, 'the one that was asked for', 'another');
  return one;
}

export function readWritten<T>(answer: Answer, { name, parse }: One<T>): T {
  return parse(readWrapped(bodyText(answer), name));
}

export interface Short<T> {
  readonly key: string;
  readonly parse: (source: Source) => T;
  readonly organizationId: string;
}

/** Reads a short list that stands in one answer, under its name or as a bare array. */
export async function readAll<T>(
  http: Http,
  call: Call,
  { key, parse, organizationId }: Short<T>,
  options: ReadOptions = {},
): Promise<readonly T[]> {
  const answer = await http.call({ ...call, ...observed(options) });
  const { items, envelope } = cutAll(answer, key, parse, options.onUnreadable);
  const owner = readOwner(envelope, organizationId);
  options.onOwner?.(owner);
  return items;
}

export function cutAll<T>(
  answer: Answer,
  key: string,
  parse: (source: Source) => T,
  onUnreadable?: ReadOptions['onUnreadable'],
) {
  const whole = bodyText(answer);
  const body = whole.startsWith('[') ? Buffer.from(`{"${key}":${whole}}`) : answer.body;
  const { elements, envelope } = cutPage(body, key);
  const items = elements.flatMap(({ text, value }, index) =>
    parseRow(sourceOf(text, value, `${key}[${index}]`), parse, onUnreadable),
  );
  return { items, envelope };
}

export async function download(http: Http, call: Call, options: DownloadOptions = {}): Promise<Download> {
  const maxBytes = options.maxBytes ?? MAX_CERTIFICATE_BYTES;
  const accept = 'application/octet-stream';
  const answer = await http.stream({ ...call, ...observed(options), accept, maxBytes, isDownload: true });
  if (!answer.isWhole) {
    await answer.cancel();
    throw badAnswer('the certificate', 'one whole answer', `${answer.status} and no end that could be known`);
  }
  const { contentLength, fileName, body } = answer;
  return { contentLength, fileName, body, cancel: () => answer.cancel() };
}

export function bodyText(answer: Answer): string {
  return decodeText(answer.body, 'the answer')
    .replace(/^\uFEFF/, '')
    .trim();
}
