import type { RegistryError } from './errors.js';
import type { CallRecord, HttpRequest } from './http/http-types.js';
import type { SourceObject } from './json/json-object.js';

/** A row of a list that could not be parsed. */
export interface UnreadableRow {
  readonly object: SourceObject;
  readonly error: RegistryError;
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called after each attempt of each request of this read. */
  readonly onCall?: ((call: CallRecord) => void) | undefined;
  /**
   * Called for each response with an organization's list. Receives the owner that the response names, or null if it
   * names none.
   */
  readonly onOwner?: ((organizationId: string | null) => void) | undefined;
  /** Called for each unreadable row of a list, which is then left out. Without it, an unreadable row fails the whole read. */
  readonly onUnreadable?: ((row: UnreadableRow) => void) | undefined;
}

export const DEFAULT_PAGE_SIZE = 100;

export interface ListOptions extends ReadOptions {
  /** Rows to request per page. The registry may send fewer; if it refuses this size, a smaller one is used. Default 100. */
  readonly limit?: number;
  /** Pages to request at once. They are yielded in order. Default 4. */
  readonly readAhead?: number;
  /**
   * The pages and groups of rows that an earlier read has seen. They are recognized by their digests and not parsed
   * again.
   */
  readonly knownRows?: KnownListRows | undefined;
}

/** Tells which pages and groups of rows an earlier read has seen. */
interface KnownListRows {
  /** Returns the number of rows of a known page; undefined if the page is unknown. */
  readonly getRowCount: (pageDigest: string) => number | undefined;
  /** Whether an earlier read has seen the group with this digest. */
  readonly hasGroup: (groupDigest: string) => boolean;
}

/**
 * Consecutive rows of a page that are compared as one. Where a group ends depends only on the ids of its rows, so a row
 * that is inserted before them leaves most groups unchanged.
 */
export interface PageRowGroup {
  /** SHA-256 (hex) of the texts of the rows: equal digests mean equal rows in the same order. */
  readonly digest: string;
  readonly ids: readonly string[];
}

/** One page of a list. */
export interface ListPage<T> {
  /** The parsed rows of the groups that an earlier read has not seen. */
  readonly items: readonly T[];
  /** The number of rows. */
  readonly rows: number;
  /** Whether an earlier read has seen the whole page. It then has neither items nor groups. */
  readonly isKnown: boolean;
  /** The groups that an earlier read has seen. */
  readonly knownGroups: readonly PageRowGroup[];
  /** The groups that an earlier read has not seen. */
  readonly unknownGroups: readonly PageRowGroup[];
  /** Counted from 0. */
  readonly number: number;
  /** The length of the whole list as the registry states it, or null if it does not. */
  readonly total: number | null;
  /** The number of rows that were requested. */
  readonly limit: number;
  /** The number of rows that a full page of this list has in fact. */
  readonly pageSize: number;
  readonly bytes: number;
  /** SHA-256 (hex) of the list: equal digests mean equal rows in the same order. */
  readonly digest: string;
  /** When the page was received, in epoch milliseconds of the local clock. It may be yielded much later. */
  readonly arrivedAt: number;
  readonly isLast: boolean;
  /**
   * Why this page is the last: the list ended, the page had no new rows, or there were more pages than the list should
   * have. Null if it is not the last.
   */
  readonly end: 'complete' | 'repeated' | 'endless' | null;
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
