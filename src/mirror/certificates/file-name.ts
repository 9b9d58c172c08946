import { isId } from '../../registry/model.js';

/** Hash digits in the file names of earlier versions: too few to prevent collisions made on purpose. */
const LEGACY_HASH_DIGITS = 12;
/** The name of a certificate file, intact or damaged. */
const CERTIFICATE_FILE = /^(.+)-(?:[0-9a-f]{64}|[0-9a-f]{12})\.pdf(?:\.[0-9a-f-]{36}\.damaged)?$/;
const INTACT_FILE = /-(?:[0-9a-f]{64}|[0-9a-f]{12})\.pdf$/;

/** Returns the file name of a certificate. It contains the whole hash, so other content never gets the same name. */
export function formatCertificateFileName(retirementId: string, sha256: string): string {
  return `${assertRetirementId(retirementId)}-${sha256}.pdf`;
}

/** Returns the name that earlier versions gave to the file of a certificate. */
export function formatLegacyFileName(retirementId: string, sha256: string): string {
  return formatCertificateFileName(retirementId, sha256.slice(0, LEGACY_HASH_DIGITS));
}

/** Returns the id if it is well-formed; else throws, because the id must not become part of a file name. */
export function assertRetirementId(retirementId: string): string {
  if (!isId(retirementId)) throw new TypeError('expected the id of a retirement');
  return retirementId;
}

/** Returns the retirement id in the name of an intact or damaged certificate file; null for any other name. */
export function parseRetirementId(file: string): string | null {
  const id = CERTIFICATE_FILE.exec(file)?.[1];
  return isId(id) ? id : null;
}

/** Whether a certificate file has the name of a complete one. Damaged and half-written files have other names. */
export function isIntactFileName(file: string): boolean {
  return INTACT_FILE.test(file);
}
