import { createHmac, timingSafeEqual } from 'node:crypto';

/** Computes the value of the signature header: the HMAC-SHA256 of a signed text, exactly as the text is sent. */
export function signDelivery(signedData: string, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(signedData).digest('hex')}`;
}

/**
 * Returns the index of the secret that made the signature, or -1 if none did. Several secrets are valid during a rotation.
 * An empty secret never verifies anything.
 */
export function verifySignature(
  signedData: string,
  signature: string | null,
  secrets: readonly string[],
): number {
  if (signature === null) return -1;
  const actual = Buffer.from(signature);
  return secrets.findIndex(secret => {
    const expected = Buffer.from(signDelivery(signedData, secret));
    return secret !== '' && actual.length === expected.length && timingSafeEqual(actual, expected);
  });
}
