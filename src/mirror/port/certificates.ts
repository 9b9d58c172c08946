import type { CertificateFile } from '../pdf-store.js';
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
  /** The version of the retirement for which the certificate was due. If the retirement has changed since, it stays due. */
  readonly retirementVersion: number;
  readonly result:
    | { readonly kind: 'file'; readonly file: CertificateFile; readonly observedAt: string }
    | { readonly kind: 'none' }
    | { readonly kind: 'fault'; readonly error: string };
}

/**
 * What a write did to a certificate. `noted`: only the attempt was recorded. `gone`: meanwhile the retirement was closed
 * or purged, or the file was removed.
 */
export type CertificateWriteResult = 'stored' | 'replaced' | 'unchanged' | 'noted' | 'gone';

/**
 * Which certificates to make due. `new`: those of new and changed retirements, of all organizations. With a filter, those
 * of one organization: `all` of them, those whose latest request `failed`, or those whose latest request is dated `ahead`
 * of now, because the clock was set back.
 */
export type CertificateSelection =
  | 'new'
  | { readonly organizationId: string; readonly filter: 'all' | 'failed' | 'ahead' };
