import { createHmac, timingSafeEqual } from 'node:crypto';

/** Computes the signature header of a webhook: the HMAC-SHA256 of the signed text. */
export function signDelivery(signedData: string, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(signedData).digest('hex')}`;
}

/** Returns the index of the secret that made a signature, or -1. Several secrets are valid during a rotation. */
export function verifySignature(
  signedData: string,
  signature: string | null,
  secrets: readonly string[],
): number {
  if (signature === null) return -1;
  const actual = Buffer.from(signature);
  return secrets.findIndex(secret => {
    const expected = Buffer.from(signDelivery(signedData, secret));
    // An empty secret never verifies anything.
    return secret !== '' && actual.length === expected.length && timingSafeEqual(actual, expected);
  });
}
