import type { TokenSource } from './credential.js';
import type { RegistryErrorCode } from '../errors.js';
import type { WriteLog } from '../writes/write-log.js';

/** How one attempt of a request ended, for metrics and logs. It contains no credential and no id. */
export interface CallRecord {
  readonly method: string;
  /** The template of the path, such as `/organizations/:organizationId/retirements`. */
  readonly route: string;
  /** Which attempt of its request this was. The first one is 1. */
  readonly attempt: number;
  /** The status of the response, or null if none arrived. */
  readonly status: number | null;
  /** Why the attempt failed, or null if it succeeded. */
  readonly code: RegistryErrorCode | null;
  /** How long the attempt took. */
  readonly ms: number;
  /** How many bytes of the response's body were read. */
  readonly bytes: number;
}

/** Sends one request, as the global `fetch` does. */
export type Fetch = (url: URL, init: RequestInit) => Promise<Response>;

export interface HttpOptions {
  /** The URL of the registry: https, or http on a loopback address. It may have a path. */
  readonly baseUrl: string;
  /** The version header is `x-<prefix>-api-version`. Default `registry`. */
  readonly headerPrefix?: string;
  /** Default `2023-06-16`. */
  readonly apiVersion?: string;
  /** Path of the endpoint that finds a project. Default `/projects/find`. */
  readonly findPath?: string;
  /** Limit for all clients that share these options. `Infinity` lifts it. Default 20. */
  readonly requestsPerSecond?: number;
  /** How many requests may start at once after a pause. Default 40. */
  readonly burst?: number;
  /** How many requests may be in flight. Default 8. */
  readonly concurrency?: number;
  /** Time limit of one attempt, its body included. Default 30 seconds. */
  readonly deadlineMs?: number;
  /** Time limit of a streamed body: warehouse, inventory and certificates. Default 5 minutes. */
  readonly streamDeadlineMs?: number;
  /** The largest page or object. Default 2 MB. */
  readonly maxBytes?: number;
  /** The largest streamed list. Default 1 GB. */
  readonly maxStreamBytes?: number;
  /** Maximum number of attempts of a repeatable request, including the first. Default 4. */
  readonly attempts?: number;
  /**
   * The longest wait before a retry. If the registry asks for a longer one, the call fails, and the error's
   * `retryAfterMs` tells the caller. Default 5 seconds.
   */
  readonly maxRetryWaitMs?: number;
  /** Texts to mask in every error, in addition to the credentials that are sent. */
  readonly secrets?: readonly string[];
  /** Sends the requests, for example through a proxy. It must not follow redirects. Default: the global `fetch`. */
  readonly fetch?: Fetch;
  /** The header User-Agent. Default: `carbon-mirror/` and the version of this package. */
  readonly userAgent?: string;
  /** Returns the time in epoch milliseconds. Default `Date.now`. */
  readonly now?: () => number;
  /** Returns a number from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Waits before a retry. Rejects if the signal is aborted. Default: a timer. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Called after each attempt of each request. */
  readonly onCall?: (call: CallRecord) => void;
  /** Called for each response with a Date header, with epoch milliseconds. */
  readonly onDate?: (serverMs: number, localMs: number, status: number) => void;
}

/** The ids that replace the placeholders of a route. */
export type RouteParams = Readonly<Record<string, string>>;

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Begins with a slash. Each `:name` is replaced by the id of that name in `params`. */
  readonly route: string;
  readonly params?: RouteParams;
  readonly query?: Readonly<Record<string, string>>;
  /** JSON text: parsing and writing it again could change the digits of an amount. */
  readonly body?: string;
  readonly token: TokenSource;
  /** Whether the request fetches a file. Such requests leave some slots to others. */
  readonly isDownload?: boolean;
  /** Whether sending the request twice does no harm. Default: only for GET. */
  readonly repeatable?: boolean;
  readonly accept?: string;
  /** Overrides the limit of the client's options. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called after each attempt of this request. */
  readonly onCall?: ((call: CallRecord) => void) | undefined;
}

export interface HttpResponse {
  readonly status: number;
  readonly body: Buffer;
}

export interface StreamedResponse {
  readonly status: number;
  readonly contentLength: number | null;
  /** The file name that the registry suggests, if it is safe on every system; else null. */
  readonly fileName: string | null;
  /**
   * Whether a body that has ended is known to be complete. False for a partial response, and for a body without a stated
   * end.
   */
  readonly isWhole: boolean;
  /** Can be iterated once. Leaving the loop early, or `cancel`, closes the connection. */
  readonly body: AsyncIterable<Buffer>;
  cancel(): Promise<void>;
}

/** Sends requests to one registry. All clients that share it share its limits. */
export interface HttpClient {
  readonly baseUrl: string;
  readonly findPath: string;
  /** The log of the writes that all clients with this HTTP client sent. */
  readonly writeLog: WriteLog;
  /** Sends a request and reads the whole response. */
  send(request: HttpRequest): Promise<HttpResponse>;
  /** Sends a request and resolves when the headers have arrived, before the body is read. */
  stream(request: HttpRequest): Promise<StreamedResponse>;
  /** The registry's clock minus ours, by the latest Date header; null before the first response. */
  clockSkewMs(): number | null;
  localNow(): number;
  /** Masks the credentials that were sent, and the app's own secrets, in a text from the registry. */
  readonly mask: (text: string) => string;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
