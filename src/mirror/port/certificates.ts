import type { CertificateFile } from '../certificates/pdf-store.js';
import type { CertificateState } from '../../store/contract/states.js';

/** A certificate that is due to be requested. */
export interface DueCertificate {
  readonly retirementId: string;
  readonly state: CertificateState;
  readonly attempts: number;
  readonly retirementVersion: number;
}

/** The result of requesting one certificate. */
export interface CertificateDownload {
  readonly retirementId: string;
  /** When the certificate was requested, in epoch milliseconds. */
  readonly requestedAt: number;
  /** The version of the retirement when the certificate became due. The certificate stays due if there is a newer version. */
  readonly retirementVersion: number;
  readonly result:
    | { readonly kind: 'file'; readonly file: CertificateFile; readonly observedAt: string }
    | { readonly kind: 'none' }
    | { readonly kind: 'fault'; readonly error: string };
}

/**
 * The effect of a write on a certificate. `noted`: only the attempt was recorded. `gone`: nothing was written, because the
 * retirement was removed or purged, or the file removed, since the download.
 */
export type CertificateWriteResult = 'stored' | 'replaced' | 'unchanged' | 'noted' | 'gone';

/**
 * Selects the certificates to make due. `new` selects those of new and changed retirements of all organizations. A filter
 * selects certificates of one organization: `all`; `failed`, if the latest request failed; or `ahead`, if the latest request
 * is dated in the future because the clock was set back.
 */
export type CertificateSelection =
  | 'new'
  | { readonly organizationId: string; readonly filter: 'all' | 'failed' | 'ahead' };
