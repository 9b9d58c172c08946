import { createPrivateKey, type KeyObject } from 'node:crypto';

/** Why a text cannot be used as the app's private key. */
export type PrivateKeyFault =
  | 'empty'
  | 'not_pem'
  | 'public_key'
  | 'certificate'
  | 'encrypted'
  | 'openssh'
  | 'not_rsa'
  | 'too_short'
  | 'unreadable';

const EXPECTED = 'expected an RSA private key in PEM format (PKCS#1 or PKCS#8)';
const MIN_RSA_BITS = 2048;

/** Describes what is wrong with a key. It holds nothing of the key's text, and no cause that could. */
export class PrivateKeyError extends Error {
  override readonly name = 'PrivateKeyError';
  readonly code: PrivateKeyFault;

  constructor(code: PrivateKeyFault, actual: string) {
    super(`${EXPECTED}, found ${actual}`);
    this.code = code;
  }
}

/**
 * Reads an RSA private key from PEM text, in which line breaks may be written as `\n`. Throws `PrivateKeyError` for any other
 * text and for a key of less than 2,048 bits.
 */
export function readPrivateKey(text: string): KeyObject {
  // Environment variables often hold `\n` as two characters in place of a line break.
  const pem = text.replaceAll('\\r', '').replaceAll('\\n', '\n').replaceAll('\r\n', '\n').trim();
  if (pem === '') throw new PrivateKeyError('empty', 'nothing');
  const key = parseKeyBlock(findPrivateKeyBlock(pem));
  if (key.asymmetricKeyType !== 'rsa')
    throw new PrivateKeyError('not_rsa', `a key of type ${key.asymmetricKeyType}`);
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < MIN_RSA_BITS) {
    throw new PrivateKeyError('too_short', `a key of ${bits} bits; at least ${MIN_RSA_BITS} are needed`);
  }
  return key;
}

/** Returns the PEM block of the private key. Throws if the key is missing, encrypted or in OpenSSH format. */
function findPrivateKeyBlock(pem: string): string {
  const labels = [...pem.matchAll(/-----BEGIN ([A-Z0-9 ]{1,40})-----/g)].map(match => match[1] ?? '');
  const label = labels.find(name => name.endsWith('PRIVATE KEY'));
  if (label === undefined) throw createMissingKeyError(labels);
  const start = pem.indexOf(`-----BEGIN ${label}-----`);
  const footer = `-----END ${label}-----`;
  const end = pem.indexOf(footer, start);
  if (end === -1) throw new PrivateKeyError('not_pem', 'PEM text whose last line is missing');
  const block = `${pem.slice(start, end)}${footer}\n`;
  if (label.startsWith('ENCRYPTED') || /^Proc-Type:.*ENCRYPTED/m.test(block)) {
    throw new PrivateKeyError(
      'encrypted',
      'an encrypted key; store it decrypted in a file that only the app reads',
    );
  }
  if (label.startsWith('OPENSSH')) {
    throw new PrivateKeyError('openssh', 'a key in OpenSSH format; convert it to PEM first');
  }
  return block;
}

/**
 * Creates the error for a text without a private key. `labels` are the labels of the PEM blocks in the text, such as `CERTIFICATE`.
 */
function createMissingKeyError(labels: readonly string[]): PrivateKeyError {
  if (labels.some(name => name.endsWith('PUBLIC KEY'))) {
    return new PrivateKeyError('public_key', 'a public key');
  }
  if (labels.some(name => name.endsWith('CERTIFICATE'))) {
    return new PrivateKeyError('certificate', 'a certificate');
  }
  return new PrivateKeyError('not_pem', 'text that is not PEM');
}

/**
 * Parses the PEM block of a private key. Throws `PrivateKeyError` without a cause, because the cause could contain part of the
 * key.
 */
function parseKeyBlock(block: string): KeyObject {
  try {
    return createPrivateKey(block);
  } catch {
    throw new PrivateKeyError('unreadable', 'PEM text that holds no readable key');
  }
}
