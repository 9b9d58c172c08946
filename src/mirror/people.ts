import { createHash } from 'node:crypto';
import { addressesIn, normalAddress } from './person.js';

/** People who asked to be forgotten stay forgotten: a hash of the address keeps them out of later reads. */
export function hashOfAddress(address: string): string {
  return createHash('sha256').update(address).digest('hex');
}

export function isForgotten(forgotten: ReadonlySet<string>, email: string): boolean {
  return hashesOf(email).some(hash => forgotten.has(hash));
}

/** By which an address may be known: older programs had another form for what is not plain letters. */
function hashesOf(email: string): string[] {
  return [hashOfAddress(normalAddress(email)), hashOfAddress(email.trim().toLowerCase())];
}

/** Whether a text names none of them. */
export function mayKeep(forgotten: ReadonlySet<string>, text: string): boolean {
  const named = forgotten.size === 0 ? [] : addressesIn(text);
  return named.every(address => !isForgotten(forgotten, address));
}
