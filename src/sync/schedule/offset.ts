import { createHash } from 'node:crypto';

/** Reads end before the next time comes: they are spread over this part of the interval. */
const PART = 0.8;

/** Where in the interval an organization has its place: always the same, and evenly over all of them. */
export function offsetInInterval(organizationId: string, intervalMs: number): number {
  const hash = createHash('sha256').update(organizationId).digest().readUInt32BE(0);
  return Math.floor((hash / 2 ** 32) * intervalMs * PART);
}
