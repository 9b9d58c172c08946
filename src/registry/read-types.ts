import type { RegistryError } from './errors.js';
import type { CallRecord, HttpRequest } from './http/http-types.js';
import type { SourceObject } from './json/json-object.js';

/** A row of a list that could not be parsed. */
export interface UnreadableRow {
  /** The row as it was sent. */
  readonly object: SourceObject;
  /** What is wrong with it. */
  readonly error: RegistryError;
}

export interface ReadOptions {
  /** Cancels the read. It then fails with the code `cancelled`. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each attempt of each request of this read. */
  readonly onCall?: ((call: CallRecord) => void) | undefined;
  /** Called for each unreadable row of a list, which is then left out. Without it, an unreadable row fails the whole read. */
  readonly onUnreadable?: ((row: UnreadableRow) => void) | undefined;
}

export const DEFAULT_PAGE_SIZE = 100;

export interface ListOptions extends ReadOptions {
  /** Rows to request per page. The registry may send fewer; if it refuses this size, a smaller one is used. Default 100. */
  readonly limit?: number;
  /** Pages to request at once. They are yielded in order. Default 4. */
  readonly readAhead?: number;
  /** Where to go on: the `cursor` of the last page that was read. Default: the beginning of the list. */
  readonly cursor?: string | undefined;
}

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** The length of the whole list as the registry states it, or null if it does not. */
  readonly total: number | null;
  /** Given as the option `cursor`, a later read goes on after this page. Null on the last page. */
  readonly cursor: string | null;
}

/**
 * A list that the registry sends in pages. Iterating over it yields the items and requests pages as they are needed.
 * Each iteration reads the list again. The list is complete only if the iteration ends without an error.
 */
export interface PagedList<T> extends AsyncIterable<T> {
  /** Yields whole pages instead of items. */
  pages(): AsyncIterable<Page<T>>;
}

export interface DownloadOptions extends ReadOptions {
  /** The download of a larger certificate fails. Default 50 MB. */
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

/** Returns only the read options that an HTTP request needs. */
export function pickRequestOptions({ signal, onCall }: ReadOptions): Pick<HttpRequest, 'signal' | 'onCall'> {
  return { signal, onCall };
}
