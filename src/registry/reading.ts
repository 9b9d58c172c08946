import type { RegistryError } from './errors.js';
import type { Call, CallRecord } from './http/calls.js';
import type { Source } from './json/fields.js';

/** A row of a list that is JSON and has not the shape of a row. */
export interface UnreadableRow {
  readonly row: Source;
  readonly error: RegistryError;
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called for each attempt of each request of this one read. */
  readonly onCall?: ((call: CallRecord) => void) | undefined;
  /** Called for each answer of an organization's list: whose it says that it is, null where it does not say. */
  readonly onOwner?: ((organizationId: string | null) => void) | undefined;
  /** Called for each unreadable row of a list, which is then left out. Without it such a row fails the whole read. */
  readonly onUnreadable?: ((row: UnreadableRow) => void) | undefined;
}

/** Rows that are asked for per page where nothing else is said. */
export const PAGE_ROWS = 100;

export interface ListOptions extends ReadOptions {
  /** Rows to ask for per page; the registry may serve fewer, and where it refuses them fewer are asked for. Default 100. */
  readonly limit?: number;
  /** Pages that are asked for at once; they are delivered in order. Default 4. */
  readonly readAhead?: number;
  /** What stands as it stood, so that nobody needs its rows: they are not parsed. */
  readonly known?: KnownRows | undefined;
}

/** What is remembered of a list, by digests. */
interface KnownRows {
  /** How many rows a page has; undefined where it is not known. */
  readonly rowsOf: (page: string) => number | undefined;
  readonly hasGroup: (group: string) => boolean;
}

/** Some rows of a page that follow one another. Where it ends goes by the ids of its rows: most groups outlive a row that comes before them. */
export interface RowGroup {
  /** SHA-256 in hex of the rows' own texts: equal digests are equal rows in equal order. */
  readonly digest: string;
  readonly ids: readonly string[];
}

export interface Page<T> {
  /** Of all groups but the known ones. */
  readonly items: readonly T[];
  readonly rows: number;
  /** It stands as it stood, and has neither items nor groups. */
  readonly isKnown: boolean;
  readonly known: readonly RowGroup[];
  readonly unknown: readonly RowGroup[];
  /** Counted from 0. */
  readonly number: number;
  /** What the registry says the whole list holds; null where it does not say. */
  readonly total: number | null;
  /** Rows that were asked for. */
  readonly limit: number;
  /** Rows that a page really holds. */
  readonly pageSize: number;
  readonly bytes: number;
  /** SHA-256 in hex of its list: equal digests are equal rows in equal order. */
  readonly digest: string;
  /** When its answer had come to its end, in epoch milliseconds of our clock: pages are asked for ahead. */
  readonly arrivedAt: number;
  readonly last: boolean;
  /** Why it is the last one: the list ended, a page brought nothing new, or there were more pages than rows allow. */
  readonly end: 'complete' | 'repeated' | 'endless' | null;
}

export interface DownloadOptions extends ReadOptions {
  /** A longer certificate is not read to its end. Default 50 MB. */
  readonly maxBytes?: number;
}

/** A certificate as it arrives. */
export interface Download {
  readonly contentLength: number | null;
  /** What the registry calls it, where that is a plain name on every system; else null. The mirror never uses it. */
  readonly fileName: string | null;
  readonly body: AsyncIterable<Buffer>;
  cancel(): Promise<void>;
}

export function observed({ signal, onCall }: ReadOptions): Pick<Call, 'signal' | 'onCall'> {
  return { signal, onCall };
}
