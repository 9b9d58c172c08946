export const REJECTION_REASONS = [
  'signature_not_valid',
  /** No signature header with our prefix; there may be one with another prefix. */
  'no_signature',
  /** The body contains no signed text, so there is no signature to verify. */
  'no_signed_text',
  'too_large',
  'wrong_content_type',
  'not_stored',
] as const;
/** Why a webhook was rejected, for the counts of rejected webhooks. */
export type RejectionReason = (typeof REJECTION_REASONS)[number];

/** How many webhooks were rejected with the same reason, status and header prefix. */
export interface RejectionCount {
  readonly reason: RejectionReason;
  readonly status: number;
  /** The prefix of the signature header; empty if there was none. */
  readonly headerPrefix: string;
  readonly rejected: number;
  /** How long ago the newest of these webhooks arrived. */
  readonly newestMsAgo: number;
}

/** Stands for all prefixes beyond the limit. */
export const OTHER_PREFIX = 'other';

/** A sender who invents prefixes adds at most this many rows a minute, and one of `OTHER_PREFIX` for each reason. */
export const MAX_ROWS_PER_MINUTE = 32;
/** Rows that are retained: ten hours of such an attack, or many months without one. */
export const MAX_REJECTED_ROWS = 20_000;
