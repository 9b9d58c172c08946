/**
 * Why the mirror refused an operation:
 * - `fenced`: a newer claim has taken over this part of the organization.
 * - `not_active`: the organization has no active installation.
 * - `stale_read`: a newer read of the same resource has already written.
 * - `duplicate_key`: one answer contained two rows with the same key.
 * - `foreign_registry`: the mirror was filled from another registry or by another app.
 * - `ended`: this read has already been finished or abandoned.
 * - `certificate_*`: the downloaded file is not a whole PDF, so it was not stored.
 */
export type MirrorErrorCode =
  | 'fenced'
  | 'not_active'
  | 'stale_read'
  | 'duplicate_key'
  | 'foreign_registry'
  | 'ended'
  | 'certificate_empty'
  | 'certificate_not_pdf'
  | 'certificate_cut_short'
  | 'certificate_too_large';

export class MirrorError extends Error {
  override readonly name = 'MirrorError';
  readonly code: MirrorErrorCode;

  constructor(code: MirrorErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
