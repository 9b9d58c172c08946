export const REJECTION_REASONS = [
  'signature_not_valid',
  /** None of ours; one of another prefix may have come. */
  'no_signature',
  /** The body holds no text whose signature could be looked at. */
  'no_signed_text',
  'too_large',
  'wrong_content_type',
  'not_stored',
] as const;
export type RejectionReason = (typeof REJECTION_REASONS)[number];

/** Webhooks that were turned away for one reason. */
export interface RejectionCount {
  readonly reason: RejectionReason;
  readonly status: number;
  /** Of the signature header that came; empty where none did. */
  readonly headerPrefix: string;
  readonly rejected: number;
  /** How long ago the newest of them came. */
  readonly newestMsAgo: number;
}

export const OTHER_PREFIX = 'other';

/** Whoever invents prefixes fills a minute with no more rows than this, and one of `other` for each reason. */
export const MAX_ROWS_PER_MINUTE = 32;
/** Under such an attack without end these are ten hours, else many months. */
export const MAX_REJECTED_ROWS = 20_000;
