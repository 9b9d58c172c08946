import type { TokenSource } from './credential.js';
import type { RegistryErrorCode } from '../errors.js';
import type { Ledger } from '../writes/ledger.js';

/** What became of one attempt of one call; for counters and logs. It holds no credential and no id. */
export interface CallRecord {
  readonly method: string;
  /** The path's template, such as `/organizations/:organizationId/retirements`. */
  readonly route: string;
  readonly status: number | null;
  readonly code: RegistryErrorCode | null;
  readonly ms: number;
  readonly bytes: number;
}

export interface HttpOptions {
  /** https, or http on a loopback address. A path in it is kept. */
  readonly baseUrl: string;
  /** `x-<prefix>-api-version`; default `registry`. */
  readonly headerPrefix?: string;
  /** Default `2023-06-16`. */
  readonly apiVersion?: string;
  /** Default `/projects/find`. */
  readonly findPath?: string;
  /** The budget that all users of this value share. `Infinity` lifts a limit. */
  readonly requestsPerSecond?: number;
  readonly burst?: number;
  readonly concurrency?: number;
  /** For one whole answer, its body included. */
  readonly deadlineMs?: number;
  /** The same for answers that are streamed: warehouse, inventory and certificates. */
  readonly streamDeadlineMs?: number;
  /** Cap of one page or object. */
  readonly maxBytes?: number;
  /** Cap of one streamed list. */
  readonly maxStreamBytes?: number;
  /** How often a call that may be repeated is tried, the first time included. */
  readonly attempts?: number;
  /** A longer wait is not slept through: the error says `retryAfterMs` and the caller decides. */
  readonly maxRetryWaitMs?: number;
  /** Texts that no error may hold, beside the credential that was sent: whatever the registry says. */
  readonly secrets?: readonly string[];
  readonly now: () => number;
  readonly random: () => number;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly onCall?: (call: CallRecord) => void;
  /** Each time an answer carries a Date header. */
  readonly onDate?: (serverMs: number, localMs: number, status: number) => void;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Starts with a slash; each `:name` is filled from `params` after its id was checked. */
  readonly route: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** JSON text, so that digits go out as they came in. */
  readonly body?: string;
  readonly token: TokenSource;
  /** A file: it leaves places to other calls. */
  readonly isDownload?: boolean;
  /** Whether a second try cannot do harm. Default: GET only. */
  readonly repeatable?: boolean;
  readonly accept?: string;
  /** Instead of the cap in the options. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onCall?: ((call: CallRecord) => void) | undefined;
}

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

export interface StreamedAnswer {
  readonly status: number;
  readonly contentLength: number | null;
  /** A name for the body where the registry gives one that is harmless everywhere; else null. */
  readonly fileName: string | null;
  /** False for a part of something, and for a body that ends where the connection does: it may be cut anywhere. */
  readonly isWhole: boolean;
  /** May be walked once. Leaving the walk early, or `cancel`, closes the connection. */
  readonly body: AsyncIterable<Buffer>;
  cancel(): Promise<void>;
}

export interface Http {
  readonly baseUrl: string;
  readonly findPath: string;
  /** Shared by all clients, so that a look-up knows what any of them wrote. */
  readonly ledger: Ledger;
  call(call: Call): Promise<Answer>;
  stream(call: Call): Promise<StreamedAnswer>;
  /** The registry's clock minus ours, from the newest Date header; null before the first answer. */
  clockSkewMs(): number | null;
  localNow(): number;
  /** Takes out of a text of the registry's what is secret: the credentials that were sent, and the app's own. */
  readonly mask: (text: string) => string;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
