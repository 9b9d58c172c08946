import { createPrivateKey, type KeyObject } from 'node:crypto';

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

const EXPECTED = 'expected an RSA private key in PEM form (PKCS#1 or PKCS#8)';
const MIN_RSA_BITS = 2048;

/** Says what is wrong with the key; holds nothing of its text, and no cause that could. */
export class PrivateKeyError extends Error {
  override readonly name = 'PrivateKeyError';
  readonly code: PrivateKeyFault;

  constructor(code: PrivateKeyFault, found: string) {
    super(`${EXPECTED}, found ${found}`);
    this.code = code;
  }
}

/** Takes PEM text as a file or an environment variable holds it, with real or written-out line ends. */
export function readPrivateKey(text: string): KeyObject {
  const pem = text.replaceAll('\\r', '').replaceAll('\\n', '\n').replaceAll('\r\n', '\n').trim();
  if (pem === '') throw new PrivateKeyError('empty', 'nothing');
  const key = parseKey(findPrivateBlock(pem));
  if (key.asymmetricKeyType !== 'rsa') throw notRsa(key.asymmetricKeyType);
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < MIN_RSA_BITS) {
    throw new PrivateKeyError('too_short', `one of ${bits} bits where ${MIN_RSA_BITS} is the least`);
  }
  return key;
}

function findPrivateBlock(pem: string): string {
  const labels = [...pem.matchAll(/-----BEGIN ([A-Z0-9 ]{1,40})-----/g)].map(match => match[1] ?? '');
  const label = labels.find(name => name.endsWith('PRIVATE KEY'));
  if (label === undefined) throw explainMissing(labels);
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
    throw new PrivateKeyError('openssh', 'a key in OpenSSH form; convert it to PEM first');
  }
  return block;
}

function explainMissing(labels: readonly string[]): PrivateKeyError {
  if (labels.some(name => name.endsWith('PUBLIC KEY'))) {
    return new PrivateKeyError('public_key', 'a public key');
  }
  if (labels.some(name => name.endsWith('CERTIFICATE'))) {
    return new PrivateKeyError('certificate', 'a certificate');
  }
  return new PrivateKeyError('not_pem', 'text that is not PEM');
}

function notRsa(type: string | undefined): PrivateKeyError {
  return new PrivateKeyError('not_rsa', `a key of type ${type}`);
}

function parseKey(block: string): KeyObject {
  try {
    return createPrivateKey(block);
  } catch {
    throw new PrivateKeyError('unreadable', 'PEM text that holds no readable key');
  }
}
