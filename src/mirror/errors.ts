/**
 * fenced: a newer claim has taken over. not_active: no installation of the organization is active any more.
 * stale_read: a newer read of the same resource has written. duplicate_key: one answer held two rows with one key.
 * foreign_registry: the mirror was filled from another registry or app. ended: the read is over.
 * certificate_empty, certificate_not_pdf, certificate_cut_short, certificate_too_large: the file is not stored.
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
