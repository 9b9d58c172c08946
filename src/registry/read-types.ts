import type { RegistryError } from './errors.js';
import type { CallRecord, HttpRequest } from './http/http-types.js';
import type { SourceObject } from './json/json-object.js';

/** An object of a list that could not be parsed. */
export interface UnreadableRow {
  readonly object: SourceObject;
  readonly error: RegistryError;
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called after each attempt of each request of this read. */
  readonly onCall?: ((call: CallRecord) => void) | undefined;
  /** Called for each answer of an organization's list with the owner that it names, or null if it names none. */
  readonly onOwner?: ((organizationId: string | null) => void) | undefined;
  /** Called for each unreadable row of a list, which is then left out. Without it, such a row fails the whole read. */
  readonly onUnreadable?: ((row: UnreadableRow) => void) | undefined;
}

export const DEFAULT_PAGE_SIZE = 100;

export interface ListOptions extends ReadOptions {
  /** Rows to request per page. The registry may send fewer; if it refuses this size, a smaller one is used. Default 100. */
  readonly limit?: number;
  /** Pages to request at once. They are yielded in order. Default 4. */
  readonly readAhead?: number;
  /** Pages and groups of rows that an earlier read has seen. They are recognized by their digests and not parsed again. */
  readonly knownRows?: KnownListRows | undefined;
}

interface KnownListRows {
  /** Returns the number of rows of a known page; undefined for an unknown one. */
  readonly rowsOf: (pageDigest: string) => number | undefined;
  readonly hasGroup: (groupDigest: string) => boolean;
}

/**
 * Consecutive rows of a page that are compared together. The ids of the rows decide where a group ends, so that
 * a row that is inserted before them leaves most groups unchanged.
 */
export interface PageRowGroup {
  /** SHA-256 (hex) of the texts of the rows: equal digests mean equal rows in the same order. */
  readonly digest: string;
  readonly ids: readonly string[];
}

export interface ListPage<T> {
  /** The rows of the unknown groups. */
  readonly items: readonly T[];
  readonly rows: number;
  /** Whether the whole page is known. It then has neither items nor groups. */
  readonly isKnown: boolean;
  readonly known: readonly PageRowGroup[];
  readonly unknown: readonly PageRowGroup[];
  /** Counted from 0. */
  readonly number: number;
  /** The length of the whole list as the registry states it; null if it does not. */
  readonly total: number | null;
  /** Rows that were requested. */
  readonly limit: number;
  /** Rows that a full page of this list really has. */
  readonly pageSize: number;
  readonly bytes: number;
  /** SHA-256 (hex) of the list: equal digests mean equal rows in the same order. */
  readonly digest: string;
  /** When the page had been received, in epoch milliseconds of our clock. It may be yielded much later. */
  readonly arrivedAt: number;
  readonly isLast: boolean;
  /** Why the last page is the last: the list ended, the page had no new rows, or there were too many pages for its rows. */
  readonly end: 'complete' | 'repeated' | 'endless' | null;
}

export interface DownloadOptions extends ReadOptions {
  /** A larger certificate is not read to its end. Default 50 MB. */
  readonly maxBytes?: number;
}

/** A certificate that is being downloaded. */
export interface Download {
  readonly contentLength: number | null;
  /** The file name that the registry suggests, if it is safe on every system; else null. The mirror never uses it. */
  readonly fileName: string | null;
  readonly body: AsyncIterable<Buffer>;
  cancel(): Promise<void>;
}

/** Picks the read options that belong to the HTTP request. */
export function pickRequestOptions({ signal, onCall }: ReadOptions): Pick<HttpRequest, 'signal' | 'onCall'> {
  return { signal, onCall };
}
