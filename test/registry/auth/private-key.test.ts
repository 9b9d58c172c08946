import { generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { PrivateKeyError, readPrivateKey } from '../../../src/registry/auth/private-key.js';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pkcs1 = rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const pkcs8 = rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const publicPem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString();

function isTestKey(key: KeyObject): boolean {
  const text = Buffer.from('text');
  return verify('sha256', text, rsa.publicKey, sign('sha256', text, key));
}

/** Returns the error with which `readPrivateKey` refuses a text. */
function getRefusal(text: string): PrivateKeyError {
  try {
    readPrivateKey(text);
  } catch (error) {
    if (error instanceof PrivateKeyError) return error;
    throw error;
  }
  throw new Error('the key was accepted');
}

describe('a private key is read', () => {
  const forms: readonly (readonly [string, string])[] = [
    ['PKCS#1', pkcs1],
    ['PKCS#8', pkcs8],
    ['PKCS#1 with written-out line ends', pkcs1.replaceAll('\n', '\\n')],
    ['PKCS#8 with written-out line ends', pkcs8.replaceAll('\n', '\\n')],
    ['PKCS#8 with CRLF', pkcs8.replaceAll('\n', '\r\n')],
    ['PKCS#8 with CRLF written out', pkcs8.replaceAll('\n', '\\r\\n')],
    ['PKCS#8 with no last line end', pkcs8.trimEnd()],
    ['PKCS#8 in quotes, with a byte order mark', `\uFEFF"${pkcs8}"`],
    ['a key after its own public key', `${publicPem}${pkcs8}`],
  ];
  for (const [title, text] of forms) {
    it(`from ${title}`, () => {
      expect(isTestKey(readPrivateKey(text))).toBe(true);
    });
  }
});

describe('an unusable key is refused with its own reason', () => {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const cases: readonly (readonly [string, string, string])[] = [
    ['empty text', ' \n\\n ', 'empty'],
    ['text that is not PEM', 'c2VjcmV0LWtleS10ZXh0', 'not_pem'],
    ['a key cut short', pkcs8.slice(0, 700), 'not_pem'],
    ['a public key', publicPem, 'public_key'],
    ['a PKCS#1 public key', rsa.publicKey.export({ type: 'pkcs1', format: 'pem' }).toString(), 'public_key'],
    ['a certificate', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n', 'certificate'],
    [
      'a certificate of OpenSSL after others',
      '-----BEGIN X509 CRL----- -----BEGIN TRUSTED CERTIFICATE-----',
      'certificate',
    ],
    ['a list of revoked certificates', '-----BEGIN X509 CRL-----\nMIIB\n-----END X509 CRL-----\n', 'not_pem'],
    ['a public key after a certificate', `-----BEGIN CERTIFICATE-----\n${publicPem}`, 'public_key'],
    [
      'an encrypted PKCS#8 key',
      rsa.privateKey
        .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'a passphrase' })
        .toString(),
      'encrypted',
    ],
    [
      'an encrypted PKCS#1 key',
      rsa.privateKey
        .export({ type: 'pkcs1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'a passphrase' })
        .toString(),
      'encrypted',
    ],
    ['an EC key in SEC1 form', ec.export({ type: 'sec1', format: 'pem' }).toString(), 'not_rsa'],
    ['an EC key in PKCS#8 form', ec.export({ type: 'pkcs8', format: 'pem' }).toString(), 'not_rsa'],
    [
      'an RSA-PSS key, which cannot sign RS256',
      generateKeyPairSync('rsa-pss', { modulusLength: 2048 })
        .privateKey.export({ type: 'pkcs8', format: 'pem' })
        .toString(),
      'not_rsa',
    ],
    [
      'an RSA key of 1024 bits',
      generateKeyPairSync('rsa', { modulusLength: 1024 })
        .privateKey.export({ type: 'pkcs8', format: 'pem' })
        .toString(),
      'too_short',
    ],
    [
      'an OpenSSH key',
      '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----\n',
      'openssh',
    ],
    ['a damaged key', damagePem(pkcs8), 'unreadable'],
  ];
  for (const [title, text, code] of cases) {
    it(`${title}: ${code}`, () => {
      expect(getRefusal(text).code).toBe(code);
    });
  }

  it('T69 without a part of its text in the error or its cause', () => {
    for (const [, text] of cases) {
      const error = getRefusal(text);
      const printedError = `${error.message} ${error.stack ?? ''} ${JSON.stringify(error)} ${String(error.cause)}`;
      const pieces = text.split(/\s|\\n/).filter(line => line.length >= 16 && !line.startsWith('-----'));
      for (const piece of pieces) expect(printedError).not.toContain(piece);
    }
  });
});

function damagePem(pem: string): string {
  return pem
    .split('\n')
    .map((line, index) => (index === 5 ? line.toLowerCase() : line))
    .filter((_, index) => index !== 8)
    .join('\n');
}
