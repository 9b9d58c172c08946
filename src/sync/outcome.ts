import { backoffMs } from '../inbox/backoff.js';
import type { JobEnd } from '../inbox/job.js';
import { MirrorError, type MirrorErrorCode } from '../mirror/errors.js';
import { RegistryError, type RegistryErrorCode } from '../registry/errors.js';
import { maskCredentials } from '../registry/http/mask.js';
import { text } from '../resources/columns.js';

/** Why a job was stopped from our own side. */
export type StopCode =
  /** The process is going down: the job resumes at once in the next one. */
  | 'shutdown'
  /** What is left of it is kept for deliveries. */
  | 'disk_nearly_full'
  /** The lease ran out and somebody else may hold the job. */
  | 'claim_lost'
  /** Another job reads the same organization. */
  | 'organization_busy'
  /** Uninstalled or suspended while it was being read. */
  | 'access_gone';

/** A list was read to its end and still is not to be believed. */
type UnbelievedCode = 'partial' | 'removals_unconfirmed';
type StorageCode = 'disk_full' | 'database_busy' | 'file_refused';

/** Why work ends that neither the registry nor the mirror has ended: the reason, too, that an AbortSignal of a job carries. */
export class SyncError extends Error {
  override readonly name = 'SyncError';
  readonly code: StopCode | UnbelievedCode;

  constructor(code: SyncError['code'], message = code.replaceAll('_', ' ')) {
    super(message);
    this.code = code;
  }
}

export type FailureCode =
  | RegistryErrorCode
  | MirrorErrorCode
  | SyncError['code']
  | StorageCode
  | 'unexpected';

/** `reach` says whether the other resources of the same job are still worth asking for. */
export interface Rule {
  readonly act: 'retry' | 'pause' | 'fail' | 'give_up' | 'give_back';
  readonly reach: 'resource' | 'job';
  /** At least this long before the next try, whatever the back-off says. */
  readonly waitMs?: number;
}

/** What is paused tries again by itself after half a minute to a minute, then ever later, like a back-off that has failed so often before. */
const PAUSED_LATER = 6;
const BUSY_WAIT_MS = 1000;
const DISK_WAIT_MS = 30_000;
const DOUBT_WAIT_MS = 61_000;

/** Every way in which work can fail, and what becomes of its job. */
export const RULES: Readonly<Record<FailureCode, Rule>> = {
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
  /** A second read agrees or does not, a minute later at the earliest. */
  removals_unconfirmed: { act: 'retry', reach: 'resource', waitMs: DOUBT_WAIT_MS },
  unexpected: { act: 'retry', reach: 'resource' },
  /** A second try was made with a new token already; a third at once would be a loop. */
  unauthorized: { act: 'pause', reach: 'job' },
  /** The next sync of the installation finds out what has become of it. */
  installation_gone: { act: 'retry', reach: 'job' },
  /** Not one of these calls can be right the next time. */
  bad_request: { act: 'fail', reach: 'resource' },
  outcome_unknown: { act: 'fail', reach: 'resource' },
  disk_full: { act: 'retry', reach: 'job', waitMs: DISK_WAIT_MS },
  file_refused: { act: 'retry', reach: 'job', waitMs: DISK_WAIT_MS },
  database_busy: { act: 'retry', reach: 'job', waitMs: BUSY_WAIT_MS },
  organization_busy: { act: 'give_back', reach: 'job', waitMs: BUSY_WAIT_MS },
  shutdown: { act: 'give_back', reach: 'job' },
  disk_nearly_full: { act: 'give_back', reach: 'job' },
  cancelled: { act: 'give_back', reach: 'job' },
  access_gone: { act: 'give_up', reach: 'job' },
  /** Nobody may have it: where somebody has, this changes nothing. */
  claim_lost: { act: 'give_back', reach: 'job' },
  /** Somebody with a newer claim has written: nothing of ours is wanted any more. */
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
  /** PostgreSQL cannot be used now. */
  away: 'database_busy',
};

export function codeOf(error: unknown): FailureCode {
  if (error instanceof RegistryError) return error.code;
  if (error instanceof MirrorError || error instanceof SyncError) return error.code;
  if (!(error instanceof Error)) return 'unexpected';
  const code = 'code' in error ? String(error.code) : '';
  return SYSTEM_CODES[code] ?? SYSTEM_CODES[code.split('_').slice(0, 2).join('_')] ?? 'unexpected';
}

/** Whether it ends the whole job, and not the read of one resource only. */
export function endsJob(error: unknown): boolean {
  return RULES[codeOf(error)].reach === 'job';
}

/** After so many failures in a row the registry itself is in trouble, and the rest is left for later. */
export const TROUBLES = 10;

/** Whether the next one of many would end the same way: no place in the budget, no claim. */
export function endsWalk(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'rate_limited' || (code !== 'file_refused' && endsJob(error));
}

export interface Failure {
  readonly code: FailureCode;
  readonly message: string;
  readonly retryAfterMs: number | null;
}

/** In words that every database can hold, whatever stood in the error. */
export function describe(error: unknown): Failure {
  return {
    code: codeOf(error),
    message: text(maskCredentials(error instanceof Error ? error.message : String(error))) ?? '',
    retryAfterMs: error instanceof RegistryError ? error.retryAfterMs : null,
  };
}

export type Outcome =
  | { readonly act: 'retry' | 'pause' | 'give_back'; readonly at: number }
  | { readonly act: 'fail' | 'give_up' };

export interface Moment {
  readonly now: number;
  /** The failed one included. */
  readonly attempts: number;
  readonly random: () => number;
}

/** What becomes of a job that failed in this way. */
export function decide(failure: Failure, { now, attempts, random }: Moment): Outcome {
  const { act, waitMs = 0 } = RULES[failure.code];
  if (act === 'give_back') return { act, at: now + waitMs };
  if (act === 'pause') return { act, at: now + backoffMs(attempts + PAUSED_LATER, random()) };
  if (act !== 'retry') return { act };
  return { act, at: now + Math.max(backoffMs(attempts, random()), waitMs, failure.retryAfterMs ?? 0) };
}

/** What is written into the row of a job that failed. */
export function endOf(outcome: Outcome, { code, message }: Failure, now: number): JobEnd {
  const error = { code, message };
  if (!('at' in outcome)) {
    return outcome.act === 'fail' ? { act: 'fail', error } : { act: 'done', outcome: 'overtaken' };
  }
  const inMs = outcome.at - now;
  return outcome.act === 'give_back' ? { act: 'give_back', inMs } : { act: outcome.act, inMs, error };
}
