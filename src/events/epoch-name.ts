const EPOCH_BYTES = 6;

/**
 * Creates a random epoch name, the first part of event ids. The name must contain no full stop, because full stops separate the parts of
 * the text that is signed.
 */
export function createEpochName(randomBytes: (size: number) => Buffer): string {
  return randomBytes(EPOCH_BYTES).toString('hex');
}
