import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject, verify } from 'node:crypto';
import { EvidenceError } from './evidence-error.js';
import { sha256 } from './hashes.js';

/** As C2SP numbers it, in front of each key that is written as text. */
const ED25519 = Uint8Array.of(1);

/** The bytes of a PKCS#8 file before the 32 bytes of its private key. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const KEY_BYTES = 32;

/** A signer as verifiers know it. */
export interface Verifier {
  readonly name: string;
  readonly publicKey: Buffer;
}

/** Signs notes in the format of C2SP's signed-note. Its text form is that of Go's `sumdb/note`. */
export interface SigningKey extends Verifier {
  readonly privateKey: KeyObject;
  /**
   * Keys of the authentication codes of leaves. The first one is derived from this key and makes new codes. While a key is
   * being replaced, the second one is derived from its successor, because some leaves may already have new codes.
   */
  readonly codeKeys: readonly [Uint8Array, ...Uint8Array[]];
}

export function createSigningKey(name: string, seed: Uint8Array): SigningKey {
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const codeKey = hkdfSync('sha256', seed, '', 'carbon-mirror codes of leaves', KEY_BYTES);
  return {
    name,
    privateKey,
    publicKey: spki.subarray(-KEY_BYTES),
    codeKeys: [new Uint8Array(codeKey)],
  };
}

export function formatSigningKey(key: SigningKey, seed: Uint8Array): string {
  return `PRIVATE+KEY+${key.name}+${computeKeyId(key).toString('hex')}+${Buffer.concat([ED25519, seed]).toString('base64')}\n`;
}

export function parseSigningKey(text: string): SigningKey {
  const [, name = '', id, base64 = ''] = /^PRIVATE\+KEY\+([^+\s]+)\+([0-9a-f]{8})\+(\S+)\n$/.exec(text) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  const fault = new EvidenceError('the key is not one that "carbon-mirror evidence init" makes');
  if (bytes.length !== KEY_BYTES + 1 || bytes[0] !== ED25519[0]) throw fault;
  const key = createSigningKey(name, bytes.subarray(1));
  if (computeKeyId(key).toString('hex') !== id) throw fault;
  return key;
}

/** Formats the public key as text, in the form that Go's `sumdb/note` reads. */
export function formatVerifierKey(key: Verifier): string {
  return `${key.name}+${computeKeyId(key).toString('hex')}+${Buffer.concat([ED25519, key.publicKey]).toString('base64')}`;
}

export function isSignedBy({ publicKey }: Verifier, text: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== KEY_BYTES) return false;
  const key = { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') };
  return verify(null, text, createPublicKey({ key, format: 'jwk' }), signature);
}

export function computeKeyId({ name, publicKey }: Verifier): Buffer {
  return sha256(Buffer.from(`${name}\n`), ED25519, publicKey).subarray(0, 4);
}
