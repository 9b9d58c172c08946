import { isId } from '../../text/checks.js';

/** Hash digits in the file names of earlier versions: too few to prevent collisions made on purpose. */
const LEGACY_HASH_DIGITS = 12;
/** The name of a certificate file, intact or damaged. */
const CERTIFICATE_FILE = /^(.+)-(?:[0-9a-f]{64}|[0-9a-f]{12})\.pdf(?:\.[0-9a-f-]{36}\.damaged)?$/;
const INTACT_FILE = /-(?:[0-9a-f]{64}|[0-9a-f]{12})\.pdf$/;

/** Formats the file name `<retirementId>-<sha256>.pdf`. */
export function formatCertificateFileName(retirementId: string, sha256: string): string {
  return `${validateRetirementId(retirementId)}-${sha256}.pdf`;
}

/** Formats the file name that earlier versions of the program used, with the first 12 digits of the hash. */
export function formatLegacyFileName(retirementId: string, sha256: string): string {
  return formatCertificateFileName(retirementId, sha256.slice(0, LEGACY_HASH_DIGITS));
}

/** Returns a retirement id that is safe in a file name. Throws a TypeError for any other text. */
export function validateRetirementId(retirementId: string): string {
  if (!isId(retirementId)) throw new TypeError('expected the id of a retirement');
  return retirementId;
}

/** Extracts the retirement id from a certificate's file name. Returns null for other files. */
export function parseRetirementId(file: string): string | null {
  const id = CERTIFICATE_FILE.exec(file)?.[1];
  return isId(id) ? id : null;
}

/** Whether a file name is that of an intact certificate. Damaged files end in `.damaged`. */
export function isIntactFileName(file: string): boolean {
  return INTACT_FILE.test(file);
}
