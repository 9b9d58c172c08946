import { createHmac, timingSafeEqual } from 'node:crypto';

/** The value of the signature header for a signed text: an HMAC over the text exactly as it is sent. */
export function signDelivery(signedData: string, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(signedData).digest('hex')}`;
}

/** The index of the secret that made this signature, -1 when none did. Several are live while one is rotated; an empty one signs nothing. */
export function verifySignature(
  signedData: string,
  signature: string | null,
  secrets: readonly string[],
): number {
  if (signature === null) return -1;
  const given = Buffer.from(signature);
  return secrets.findIndex(secret => {
    const expected = Buffer.from(signDelivery(signedData, secret));
    return secret !== '' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}
