/** Reads that need one request: an object, a short list, a download. Long lists are read by `read-pages.ts` and `read-batches.ts`. */
import type { HttpClient, HttpRequest, HttpResponse } from '../http/http-types.js';
import { parsePage, parseRow } from './parse-page.js';
import {
  createBadAnswerError,
  decodeUtf8,
  parseWrappedObject,
  type ObjectParser,
  toSourceObject,
} from '../json/json-object.js';
import { checkListOwner, isSameId } from './list-owner.js';
import { type Download, type DownloadOptions, pickRequestOptions, type ReadOptions } from '../read-types.js';
import type { ObservationOptions } from './paged-lists.js';

const MAX_CERTIFICATE_BYTES = 50 * 1024 * 1024;

/** The name of a kind of object and how to parse it. */
export interface ObjectFormat<T> {
  /** The name in which the object may be wrapped. It also names the object in errors. */
  readonly name: string;
  readonly parse: ObjectParser<T>;
  /** The id that the object must have. */
  readonly id?: string;
}

/** Requests one object. Throws if the response has an id other than the expected `id`. */
export async function readObject<T extends { readonly id: string }>(
  http: HttpClient,
  request: HttpRequest,
  { name, parse, id }: ObjectFormat<T>,
  options: ReadOptions = {},
): Promise<T> {
  const response = await http.send({ ...request, ...pickRequestOptions(options) });
  const object = parseResponseObject(response, { name, parse });
  if (id !== undefined && !isSameId(object.id, id))
    throw createBadAnswerError(name, 'the object with the requested id', 'another one');
  return object;
}

/** Parses the object in a response. Also accepts a wrapper, such as `{"retirement": {…}}`. */
export function parseResponseObject<T>(response: HttpResponse, { name, parse }: ObjectFormat<T>): T {
  return parse(parseWrappedObject(decodeBody(response), name));
}

/** A list that the registry sends in one response, and how to parse it. */
export interface ShortList<T> {
  /** The name of the array in the response. */
  readonly key: string;
  readonly parse: ObjectParser<T>;
  readonly organizationId: string;
}

/** Requests a list without pagination and yields all its items in one batch. */
export async function* readShortList<T>(
  http: HttpClient,
  request: HttpRequest,
  { key, parse, organizationId }: ShortList<T>,
  options: ReadOptions & ObservationOptions = {},
): AsyncGenerator<readonly T[]> {
  const response = await http.send({ ...request, ...pickRequestOptions(options) });
  const { items, envelope } = parseShortList(response, key, parse, options.onUnreadable);
  const ownerId = checkListOwner(envelope, organizationId);
  options.onOwner?.(ownerId);
  yield items;
}

/**
 * Parses a list that is an array, or an object with the array in the field `arrayName`. Returns the items and the rest of the
 * response (`envelope`).
 */
export function parseShortList<T>(
  response: HttpResponse,
  arrayName: string,
  parse: ObjectParser<T>,
  onUnreadable?: ReadOptions['onUnreadable'],
) {
  const text = decodeBody(response);
  const body = text.startsWith('[') ? Buffer.from(`{"${arrayName}":${text}}`) : response.body;
  const { rows, envelope } = parsePage(body, arrayName);
  const items = rows.flatMap((row, index) =>
    parseRow(toSourceObject(row.text, row.value, `${arrayName}[${index}]`), parse, onUnreadable),
  );
  return { items, envelope };
}

/** Starts the download of a PDF certificate. Throws if the response may be only a part of the file. */
export async function openDownload(
  http: HttpClient,
  request: HttpRequest,
  options: DownloadOptions = {},
): Promise<Download> {
  const response = await http.stream({
    ...request,
    ...pickRequestOptions(options),
    accept: 'application/octet-stream',
    maxBytes: options.maxBytes ?? MAX_CERTIFICATE_BYTES,
    isDownload: true,
  });
  if (!response.isWhole) {
    await response.cancel();
    throw createBadAnswerError(
      'the certificate',
      'one complete answer',
      `status ${response.status}, or an answer without a known end`,
    );
  }
  const { contentLength, fileName, body } = response;
  return { contentLength, fileName, body, cancel: () => response.cancel() };
}

/** Decodes a response body as UTF-8 text. Removes the byte order mark and surrounding white space. */
export function decodeBody(response: HttpResponse): string {
  return decodeUtf8(response.body, 'the answer')
    .replace(/^\uFEFF/, '')
    .trim();
}
