const EPOCH_BYTES = 6;

/** Returns a random name of an epoch. It has no full stop, because the signed text separates its parts by full stops. */
export function createEpochName(randomBytes: (size: number) => Buffer): string {
  return randomBytes(EPOCH_BYTES).toString('hex');
}
