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
/** Why a webhook was rejected. */
export type RejectionReason = (typeof REJECTION_REASONS)[number];

/** Counts webhooks that were rejected with the same reason, status and header prefix. */
export interface RejectionCount {
  readonly reason: RejectionReason;
  readonly status: number;
  /** The prefix of the signature header; empty if there was none. */
  readonly headerPrefix: string;
  readonly rejected: number;
  /** How long ago the newest of these webhooks arrived. */
  readonly newestMsAgo: number;
}

/** The prefix under which webhooks are counted whose own prefix would exceed the limit of a minute. */
export const OTHER_PREFIX = 'other';

/** Limits the rows of a minute, because a sender can invent prefixes. Each reason may add one more row, of `OTHER_PREFIX`. */
export const MAX_ROWS_PER_MINUTE = 32;
/** Limits all rows. They cover ten hours in which every minute reaches its limit, or else many months. */
export const MAX_REJECTED_ROWS = 20_000;
