const EPOCH_BYTES = 6;

/**
 * Creates a random epoch name, the first part of event ids. It has no full stop, which separates the parts of the signed text.
 */
export function createEpochName(randomBytes: (size: number) => Buffer): string {
  return randomBytes(EPOCH_BYTES).toString('hex');
}
