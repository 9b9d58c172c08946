import { isId } from '../../registry/model.js';

/** Enough for chance, not for somebody who tries: names now hold the whole hash. */
const OLDER_HASH_DIGITS = 12;
const FILE = /^(.+)-(?:[0-9a-f]{64}|[0-9a-f]{12})\.pdf(?:\.[0-9a-f-]{36}\.damaged)?$/;
const WHOLE = /-(?:[0-9a-f]{64}|[0-9a-f]{12})\.pdf$/;

/** The name of a PDF, after which nothing else is ever written under it. */
export function fileNameOf(retirementId: string, sha256: string): string {
  return `${demandId(retirementId)}-${sha256}.pdf`;
}

/** As older programs named it. */
export function olderNameOf(retirementId: string, sha256: string): string {
  return fileNameOf(retirementId, sha256.slice(0, OLDER_HASH_DIGITS));
}

export function demandId(retirementId: string): string {
  if (!isId(retirementId)) throw new TypeError('expected the id of a retirement');
  return retirementId;
}

/** Of a damaged one too; null for what is no file of a retirement. */
export function retirementOf(file: string): string | null {
  const id = FILE.exec(file)?.[1];
  return isId(id) ? id : null;
}

/** Damaged ones and parts are not. */
export function isWhole(file: string): boolean {
  return WHOLE.test(file);
}
