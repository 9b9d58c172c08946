import { hash } from 'node:crypto';

/** The length of a SHA-256. */
export const HASH_BYTES = 32;

/** Computes the SHA-256 of the parts, joined without a separator. */
export function sha256(...parts: readonly Uint8Array[]): Buffer {
  return hash('sha256', Buffer.concat(parts), 'buffer');
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
