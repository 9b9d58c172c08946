import { createHmac, timingSafeEqual } from 'node:crypto';
import { throwEvidenceError } from './evidence-error.js';
import { toHex } from './hashes.js';
import type { Leaf } from './port.js';

/**
 * The two authentication codes (HMAC-SHA-256) of a leaf. Someone who can write to the database, but does not have the key, could insert a
 * leaf, or change the columns by which the sealer counts rows. The codes let the sealer sign and count only leaves that this program wrote.
 *
 * There are two codes because an erasure (`forget` or `purge`) sets some columns to null. `code` covers the columns that an erasure keeps.
 * `plain_code` covers all columns, and an erasure sets it to null too.
 */
export type AuthenticationCodes = Pick<Leaf, 'code' | 'plain_code'>;

/** The length of a code: the first half of an HMAC-SHA-256, in hex. */
const CODE_CHARACTERS = 32;

/** A leaf without its authentication codes. */
export type LeafContent = Omit<Leaf, 'code' | 'plain_code'>;

/** Computes both authentication codes of a leaf. */
export function createAuthenticationCodes(leaf: LeafContent, key: Uint8Array): AuthenticationCodes {
  return { code: computePermanentCode(leaf, key), plain_code: computePlainCode(leaf, key) };
}

/**
 * Returns true if the authentication codes of a leaf are valid under one of the keys. The codes prove that this program wrote the leaf and
 * that nobody changed it. An erased leaf has only `code`, and all columns that an erasure sets to null must be null.
 */
export function isAuthentic(leaf: Leaf, keys: readonly Uint8Array[]): boolean {
  const { plain_code } = leaf;
  return keys.some(key => {
    if (plain_code !== null && !isEqual(plain_code, computePlainCode(leaf, key))) return false;
    if (plain_code === null && !isErased(leaf)) return false;
    return isEqual(leaf.code, computePermanentCode(leaf, key));
  });
}

/**
 * Throws an EvidenceError unless all leaves are authentic. Its message recommends the command `verify`, because the leaves may be signed
 * already and `evidence discard` does not remove signed leaves.
 */
export function assertAuthentic(leaves: readonly Leaf[], keys: readonly Uint8Array[]): void {
  for (const leaf of leaves)
    if (!isAuthentic(leaf, keys))
      throwEvidenceError(
        `not signed: leaf ${leaf.place} (${leaf.kind} ${leaf.number}) is not as this program wrote it, see "carbon-mirror verify"`,
      );
}

/**
 * Throws an EvidenceError unless all leaves are authentic. Its message recommends the command `evidence discard`, which removes unsigned
 * leaves only.
 */
export function assertUnsignedLeavesAuthentic(leaves: readonly Leaf[], keys: readonly Uint8Array[]): void {
  for (const leaf of leaves)
    if (!isAuthentic(leaf, keys))
      throwEvidenceError(
        `not signed: this program did not write leaf ${leaf.place} (${leaf.kind} ${leaf.number}); "carbon-mirror evidence discard" removes it`,
      );
}

/** Returns true if all columns that an erasure sets to null are null. */
function isErased(leaf: LeafContent): boolean {
  return listErasableValues(leaf).every(value => value === null);
}

/** Computes `code`: the HMAC of the columns that an erasure keeps. */
function computePermanentCode(
  { place, kind, number, resource, commitment }: LeafContent,
  key: Uint8Array,
): string {
  return hmac(key, ['leaf', place, kind, number, resource, toHex(commitment)]);
}

/** Computes the authentication code `plain_code` of a leaf: the HMAC of all columns. */
function computePlainCode(leaf: LeafContent, key: Uint8Array): string {
  const { place, kind, number, resource, commitment } = leaf;
  return hmac(key, ['plain', place, kind, number, resource, toHex(commitment), ...listErasableValues(leaf)]);
}

/** Returns the values of the columns that an erasure (`forget` or `purge`) sets to null, in a fixed order. */
function listErasableValues(leaf: LeafContent) {
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

/** Computes a code of values: the first half of their HMAC-SHA-256, in hex. */
function hmac(key: Uint8Array, values: readonly (string | number | null)[]): string {
  return createHmac('sha256', key).update(JSON.stringify(values)).digest('hex').slice(0, CODE_CHARACTERS);
}

/** Compares two codes in constant time. */
function isEqual(stored: string, expected: string): boolean {
  return stored.length === expected.length && timingSafeEqual(Buffer.from(stored), Buffer.from(expected));
}
