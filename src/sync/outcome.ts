import { computeBackoffMs } from '../inbox/backoff.js';
import type { JobEnd } from '../inbox/job.js';
import { MirrorError, type MirrorErrorCode } from '../mirror/mirror-error.js';
import { RegistryError, type RegistryErrorCode } from '../registry/errors.js';
import { maskCredentials } from '../text/mask.js';
import { toReadableText } from '../resources/sql-values.js';

/**
 * Every way in which a job can fail, and what happens to the job then: `FAILURE_RULES` is the table, `describeFailure` finds
 * the code of an error, `decideOutcome` applies the rule of that code, and `toJobEnd` turns the outcome into what the
 * inbox stores.
 * An error must never reach the inbox by another way, so that texts with secrets are masked in one place.
 */

/** Why the program itself stopped a job. */
export type StopCode =
  /** The process shuts down; the next process resumes the job at once. */
  | 'shutdown'
  /** The remaining disk space is reserved for deliveries. */
  | 'disk_nearly_full'
  /** The lease expired, so another worker may have claimed the job. */
  | 'claim_lost'
  /** Another job is reading the same organization. */
  | 'organization_busy'
  /** The installation was uninstalled or suspended during the read. */
  | 'access_gone';

/** A list was read to its end, but its content is incomplete or implausible. */
type IncompleteListCode = 'partial' | 'removals_unconfirmed';
/** The disk or the database refused a write. */
type StorageCode = 'disk_full' | 'database_busy' | 'file_refused';

/** A failure that neither the registry nor the mirror caused. It is also the reason of an aborted job signal. */
export class SyncError extends Error {
  override readonly name = 'SyncError';
  readonly code: StopCode | IncompleteListCode;

  constructor(code: SyncError['code'], message = code.replaceAll('_', ' ')) {
    super(message);
    this.code = code;
  }
}

/** Why a job failed. Every code has a rule in `FAILURE_RULES`. */
export type FailureCode =
  | RegistryErrorCode
  | MirrorErrorCode
  | SyncError['code']
  | StorageCode
  | 'unexpected';

/** What happens to a job after a failure. */
export interface FailureRule {
  readonly act: 'retry' | 'pause' | 'fail' | 'give_up' | 'release';
  /** Whether the failure ends the whole job, or only the read of one resource. */
  readonly reach: 'resource' | 'job';
  /** The shortest delay before the next attempt, even if the backoff is shorter. */
  readonly minDelayMs?: number;
}

/** A paused job backs off as if it had failed six more times, so the first delay is half a minute to a minute. */
const PAUSE_EXTRA_ATTEMPTS = 6;
const BUSY_DELAY_MS = 1000;
const STORAGE_DELAY_MS = 30_000;
/** A second read confirms removals at the earliest a minute later. */
const CONFIRMATION_DELAY_MS = 61_000;

export const FAILURE_RULES: Readonly<Record<FailureCode, FailureRule>> = {
  rate_limited: { act: 'retry', reach: 'resource' },
  unavailable: { act: 'retry', reach: 'resource' },
  timeout: { act: 'retry', reach: 'resource' },
  bad_answer: { act: 'retry', reach: 'resource' },
  other_form: { act: 'retry', reach: 'resource' },
  too_large: { act: 'retry', reach: 'resource' },
  not_found: { act: 'retry', reach: 'resource' },
  conflict: { act: 'retry', reach: 'resource' },
  invalid: { act: 'retry', reach: 'resource' },
  forbidden: { act: 'retry', reach: 'resource' },
  duplicate_key: { act: 'retry', reach: 'resource' },
  ended: { act: 'retry', reach: 'resource' },
  stale_read: { act: 'retry', reach: 'resource' },
  certificate_empty: { act: 'retry', reach: 'resource' },
  certificate_not_pdf: { act: 'retry', reach: 'resource' },
  certificate_cut_short: { act: 'retry', reach: 'resource' },
  certificate_too_large: { act: 'retry', reach: 'resource' },
  partial: { act: 'retry', reach: 'resource' },
  removals_unconfirmed: { act: 'retry', reach: 'resource', minDelayMs: CONFIRMATION_DELAY_MS },
  unexpected: { act: 'retry', reach: 'resource' },
  /** The client has already retried with a new token; retrying at once would loop. */
  unauthorized: { act: 'pause', reach: 'job' },
  /** The next sync of the installation finds out whether it was uninstalled. */
  installation_gone: { act: 'retry', reach: 'job' },
  /** The same request would fail again. */
  bad_request: { act: 'fail', reach: 'resource' },
  outcome_unknown: { act: 'fail', reach: 'resource' },
  disk_full: { act: 'retry', reach: 'job', minDelayMs: STORAGE_DELAY_MS },
  file_refused: { act: 'retry', reach: 'job', minDelayMs: STORAGE_DELAY_MS },
  /** The job is not to blame, so the attempt does not count. */
  database_busy: { act: 'release', reach: 'job', minDelayMs: BUSY_DELAY_MS },
  organization_busy: { act: 'release', reach: 'job', minDelayMs: BUSY_DELAY_MS },
  shutdown: { act: 'release', reach: 'job' },
  disk_nearly_full: { act: 'release', reach: 'job' },
  cancelled: { act: 'release', reach: 'job' },
  access_gone: { act: 'give_up', reach: 'job' },
  /** If no other worker has claimed the job, it is free again; otherwise the inbox ignores the release. */
  claim_lost: { act: 'release', reach: 'job' },
  /** A newer claim has written: the results of this job are obsolete. */
  fenced: { act: 'give_up', reach: 'job' },
  not_active: { act: 'give_up', reach: 'job' },
  foreign_registry: { act: 'pause', reach: 'job' },
};

const SYSTEM_CODES: Readonly<Record<string, StorageCode>> = {
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
  SQLITE_FULL: 'disk_full',
  EACCES: 'file_refused',
  EPERM: 'file_refused',
  EROFS: 'file_refused',
  EMFILE: 'file_refused',
  EIO: 'file_refused',
  SQLITE_IOERR: 'file_refused',
  SQLITE_READONLY: 'file_refused',
  SQLITE_BUSY: 'database_busy',
  SQLITE_LOCKED: 'database_busy',
  /** PostgreSQL is unavailable. */
  away: 'database_busy',
};

/** Returns the failure code of an error. Returns `unexpected` for an unknown error. */
export function toFailureCode(error: unknown): FailureCode {
  if (error instanceof RegistryError) return error.code;
  if (error instanceof MirrorError || error instanceof SyncError) return error.code;
  if (!(error instanceof Error)) return 'unexpected';
  const systemCode = 'code' in error ? String(error.code) : '';
  // SQLite extends its codes by a suffix, as in SQLITE_IOERR_WRITE.
  const primaryCode = systemCode.split('_').slice(0, 2).join('_');
  return SYSTEM_CODES[systemCode] ?? SYSTEM_CODES[primaryCode] ?? 'unexpected';
}

/** Whether an error ends the whole job, and not only the read of one resource. */
export function endsJob(error: unknown): boolean {
  return FAILURE_RULES[toFailureCode(error)].reach === 'job';
}

/** After this many failures in a row we assume an outage of the registry and leave the remaining items for later. */
export const MAX_CONSECUTIVE_FAILURES = 10;

/** Whether an error ends a batch of requests, because the remaining requests would fail with it too. */
export function endsBatch(error: unknown): boolean {
  const code = toFailureCode(error);
  // A file that was refused may concern one item only.
  return code === 'rate_limited' || (code !== 'file_refused' && endsJob(error));
}

/** A failure as it is logged and stored: secrets in its message are masked. */
export interface Failure {
  readonly code: FailureCode;
  readonly message: string;
  readonly retryAfterMs: number | null;
}

/** Converts an error to a failure that can be logged and stored. Secrets in the message are masked. */
export function describeFailure(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  return {
    code: toFailureCode(error),
    message: toReadableText(maskCredentials(message)) ?? '',
    retryAfterMs: error instanceof RegistryError ? error.retryAfterMs : null,
  };
}

/** What happens to a failed job. `at` is the instant from which it may run again. */
export type FailureOutcome =
  | { readonly act: 'retry' | 'pause' | 'release'; readonly at: number }
  | { readonly act: 'fail' }
  | { readonly act: 'give_up' };

/** The attempt that failed, as far as the delay before the next one depends on it. */
export interface FailedAttempt {
  readonly now: number;
  /** How often the job was attempted, the failed attempt included. */
  readonly attempts: number;
  readonly random: () => number;
}

/** Decides from the failure and the number of attempts whether a job is retried, and when. */
export function decideOutcome(failure: Failure, { now, attempts, random }: FailedAttempt): FailureOutcome {
  const { act, minDelayMs = 0 } = FAILURE_RULES[failure.code];
  if (act === 'release') return { act, at: now + minDelayMs };
  if (act === 'pause') return { act, at: now + computeBackoffMs(attempts + PAUSE_EXTRA_ATTEMPTS, random()) };
  if (act !== 'retry') return { act };
  const delayMs = Math.max(computeBackoffMs(attempts, random()), minDelayMs, failure.retryAfterMs ?? 0);
  return { act, at: now + delayMs };
}

/** Converts the decision about a failed job, such as `retry`, to the form that the inbox stores. `give_up` becomes `done`. */
export function toJobEnd(outcome: FailureOutcome, { code, message }: Failure, now: number): JobEnd {
  const error = { code, message };
  if (outcome.act === 'fail') return { act: 'fail', error };
  // A newer job has replaced this one.
  if (outcome.act === 'give_up') return { act: 'done', outcome: 'overtaken' };
  const delayMs = outcome.at - now;
  // Only a job that the database interrupted keeps its error.
  if (outcome.act === 'release')
    return { act: 'release', delayMs, error: code === 'database_busy' ? error : null };
  return { act: outcome.act, delayMs, error };
}
