import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject, verify } from 'node:crypto';
import { EvidenceError } from './evidence-error.js';
import { sha256 } from './hashes.js';

/** The number of the algorithm Ed25519 in C2SP signed notes. It precedes each key that is written as text. */
const ED25519 = Uint8Array.of(1);

/** The first bytes of an Ed25519 key in PKCS#8. The 32 bytes of the private key follow them. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const KEY_BYTES = 32;

/** The public part of a signing key: its name, with which the log's name begins, and the Ed25519 public key. */
export interface Verifier {
  readonly name: string;
  readonly publicKey: Buffer;
}

/** An Ed25519 key that signs C2SP signed notes. Its text form is that of Go's `sumdb/note`. */
export interface SigningKey extends Verifier {
  readonly privateKey: KeyObject;
  /**
   * HMAC keys of the authentication codes of leaves. The first one is derived from this key and makes new codes. While the key is
   * being replaced, the second one is derived from the next key, because some leaves may already have codes of that.
   */
  readonly codeKeys: readonly [Uint8Array, ...Uint8Array[]];
}

/** Creates a key from its name and the 32 bytes of the private key. */
export function createSigningKey(name: string, seed: Uint8Array): SigningKey {
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const codeKey = hkdfSync('sha256', seed, '', 'carbon-mirror codes of leaves', KEY_BYTES);
  return {
    name,
    privateKey,
    publicKey: spki.subarray(-KEY_BYTES),
    codeKeys: [new Uint8Array(codeKey)],
  };
}

/** Formats a key with its 32 secret bytes as a line of text, which `parseSigningKey` reads. */
export function formatSigningKey(key: SigningKey, seed: Uint8Array): string {
  return `PRIVATE+KEY+${key.name}+${computeKeyId(key).toString('hex')}+${Buffer.concat([ED25519, seed]).toString('base64')}\n`;
}

/** Parses the text of a key file. Throws an EvidenceError if it is malformed. */
export function parseSigningKey(text: string): SigningKey {
  const [, name = '', id, base64 = ''] = /^PRIVATE\+KEY\+([^+\s]+)\+([0-9a-f]{8})\+(\S+)\n$/.exec(text) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  const fault = new EvidenceError('the key is not one that "carbon-mirror evidence init" makes');
  if (bytes.length !== KEY_BYTES + 1 || bytes[0] !== ED25519[0]) throw fault;
  const key = createSigningKey(name, bytes.subarray(1));
  if (computeKeyId(key).toString('hex') !== id) throw fault;
  return key;
}

/** Formats the public key as NAME+ID+KEY, the verifier key of C2SP signed notes and of Go's `sumdb/note`. */
export function formatVerifierKey(key: Verifier): string {
  return `${key.name}+${computeKeyId(key).toString('hex')}+${Buffer.concat([ED25519, key.publicKey]).toString('base64')}`;
}

/** Returns true if the Ed25519 signature of a text is valid. False for a public key of the wrong length. */
export function isSignedBy({ publicKey }: Verifier, text: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== KEY_BYTES) return false;
  const key = { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') };
  return verify(null, text, createPublicKey({ key, format: 'jwk' }), signature);
}

/** Computes the key id of C2SP signed notes: the first 4 bytes of a SHA-256 of name, algorithm and public key. */
export function computeKeyId({ name, publicKey }: Verifier): Buffer {
  return sha256(Buffer.from(`${name}\n`), ED25519, publicKey).subarray(0, 4);
}
