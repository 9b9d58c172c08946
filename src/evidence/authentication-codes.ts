import { createHmac, timingSafeEqual } from 'node:crypto';
import { refuse } from './evidence-error.js';
import { toHex } from './hashes.js';
import type { Leaf } from './port.js';

/**
 * Authentication codes of leaves. Somebody who can write to the database, but has no key, could change the columns by which
 * the sealer counts rows, or insert a leaf. The codes let the sealer sign and count only what it wrote itself.
 *
 * A leaf has two codes, because `forget` and `purge` empty some of its columns. `code` covers what always stays.
 * `plain_code` covers everything, and is emptied with the columns.
 */
export type Codes = Pick<Leaf, 'code' | 'plain_code'>;

/** Half of an HMAC-SHA-256, in hex. */
const CODE_CHARACTERS = 32;

type Content = Omit<Leaf, 'code' | 'plain_code'>;

export function createCodes(leaf: Content, key: Uint8Array): Codes {
  return { code: computeCode(leaf, key), plain_code: computePlainCode(leaf, key) };
}

/** Whether this program wrote a leaf as it is, with one of several keys. */
export function isAuthentic(leaf: Leaf, keys: readonly Uint8Array[]): boolean {
  const { plain_code } = leaf;
  return keys.some(key => {
    if (plain_code !== null && !isEqual(plain_code, computePlainCode(leaf, key))) return false;
    if (plain_code === null && !isErased(leaf)) return false;
    return isEqual(leaf.code, computeCode(leaf, key));
  });
}

/** Throws if this program did not write one of the leaves as it is. */
export function assertAuthentic(leaves: readonly Leaf[], keys: readonly Uint8Array[]): void {
  for (const leaf of leaves)
    if (!isAuthentic(leaf, keys))
      refuse(
        `not signed: leaf ${leaf.place} (${leaf.kind} ${leaf.number}) is not as this program wrote it, see "carbon-mirror verify"`,
      );
}

/** Throws if this program did not write one of the unsigned leaves. */
export function assertWrittenByProgram(leaves: readonly Leaf[], keys: readonly Uint8Array[]): void {
  for (const leaf of leaves)
    if (!isAuthentic(leaf, keys))
      refuse(
        `not signed: this program did not write leaf ${leaf.place} (${leaf.kind} ${leaf.number}); "carbon-mirror evidence discard" removes it`,
      );
}

/** Whether all columns that reveal what a leaf is about are empty. */
function isErased(leaf: Content): boolean {
  return listPlainColumns(leaf).every(value => value === null);
}

function computeCode({ place, kind, number, resource, commitment }: Content, key: Uint8Array): string {
  return hmac(key, ['leaf', place, kind, number, resource, toHex(commitment)]);
}

function computePlainCode(leaf: Content, key: Uint8Array): string {
  const { place, kind, number, resource, commitment } = leaf;
  return hmac(key, ['plain', place, kind, number, resource, toHex(commitment), ...listPlainColumns(leaf)]);
}

/** Returns the columns that `forget` and `purge` empty. */
function listPlainColumns(leaf: Content) {
  const { subject, ended, observed, dated, micro, read_at, is_complete, record, salt } = leaf;
  return [
    subject,
    ended,
    observed,
    dated,
    micro,
    read_at,
    is_complete,
    record,
    salt === null ? null : toHex(salt),
  ];
}

function hmac(key: Uint8Array, values: readonly (string | number | null)[]): string {
  return createHmac('sha256', key).update(JSON.stringify(values)).digest('hex').slice(0, CODE_CHARACTERS);
}

function isEqual(stored: string, expected: string): boolean {
  return stored.length === expected.length && timingSafeEqual(Buffer.from(stored), Buffer.from(expected));
}
