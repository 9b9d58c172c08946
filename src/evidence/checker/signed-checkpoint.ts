import { type Bytes, encodeUtf8, fromBase64, fromHex, isHash, isInstant, sha256, toHex } from './bytes.js';
import { EvidenceFault } from './fault.js';

/** The source of a pattern for base64, as a group. */
const BASE64_PATTERN = '([A-Za-z0-9+/]+={0,2})';
const CHECKPOINT_PATTERN = /^([^\n]+)\n([1-9][0-9]{0,14})\n([A-Za-z0-9+/]{43}=)\n([^\n]+)\n$/;
const SIGNATURE_LINE_PATTERN = new RegExp(`^— ([^\\s+]+) ${BASE64_PATTERN}$`);
const VERIFIER_KEY_PATTERN = new RegExp(`^([^\\s+]+)[+]([0-9a-f]{8})[+]${BASE64_PATTERN}$`);
/** The number of the algorithm Ed25519 in C2SP signed notes. */
const ED25519 = 1;
const KEY_ID_BYTES = 4;
const SIGNATURE_BYTES = 64;

/** A checkpoint: a C2SP signed note whose text has four lines, namely origin, size, root and instant. */
export interface Checkpoint {
  /** The name of the log. */
  readonly origin: string;
  /** The number of leaves that the checkpoint covers. */
  readonly size: number;
  /** The root hash in hex. */
  readonly root: string;
  /** When it was signed, by the clock of its signer. */
  readonly instant: string;
  /** The four lines that are signed. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** A signature line of a C2SP signed note. */
interface NoteSignature {
  /** The name of the key. */
  readonly signer: string;
  /** The key id (4 bytes), then the signature. */
  readonly bytes: Bytes;
}

/** The public key of a log, as the user entered it. */
export interface VerifierKey {
  /** The name of the key; null if only 64 hex digits were given. */
  readonly name: string | null;
  /** The public key. */
  readonly hex: string;
}

/**
 * Parses a checkpoint without checking its signatures. Throws an EvidenceFault if it is malformed; `description` names the
 * checkpoint in the message.
 */
export function parseCheckpoint(note: string, description: string): Checkpoint {
  const fault = new EvidenceFault(`${description} is not a checkpoint`);
  const end = note.indexOf('\n\n') + 1;
  const text = note.slice(0, end);
  const [, origin, size, root = '', instant] = CHECKPOINT_PATTERN.exec(text) ?? [];
  const rootBytes = fromBase64(root);
  const lines = note.slice(end + 1).split('\n');
  if (origin === undefined || !isInstant(instant) || rootBytes === null || lines.pop() !== '') throw fault;
  if (lines.length === 0 || new Set(lines).size < lines.length) throw fault;
  const signatures = lines.map(line => {
    const [, signer, base64 = ''] = SIGNATURE_LINE_PATTERN.exec(line) ?? [];
    const bytes = fromBase64(base64);
    if (signer === undefined || bytes === null) throw fault;
    return { signer, bytes };
  });
  return { origin, size: Number(size), root: toHex(rootBytes), instant, text, signatures };
}

/** Parses a key: 64 hex digits, or the verifier key NAME+ID+KEY of C2SP. Returns null for any other text, or if ID is wrong. */
export async function parseVerifierKey(text: string): Promise<VerifierKey | null> {
  if (isHash(text)) return { name: null, hex: text };
  const [, name = '', id, base64 = ''] = VERIFIER_KEY_PATTERN.exec(text) ?? [];
  const bytes = fromBase64(base64);
  if (bytes === null || bytes.length !== 33 || bytes[0] !== ED25519) return null;
  const hex = toHex(bytes.subarray(1));
  return (await computeKeyId(name, hex)) === id ? { name, hex } : null;
}

/**
 * Checks the signatures of a checkpoint under some public keys (hex). Returns the signer's name of the first valid signature. Returns null
 * if no signature is valid.
 *
 * The signer's name must be the origin of the checkpoint, or the part of the origin before a slash. If `name` is not null, the signer's
 * name must also be equal to `name`.
 */
export async function findSignerName(
  { origin, text, signatures }: Checkpoint,
  keys: Iterable<string>,
  name: string | null,
): Promise<string | null> {
  for (const { signer, bytes } of signatures) {
    if (name !== null && name !== signer) continue;
    if (!`${origin}/`.startsWith(`${signer}/`) || bytes.length !== KEY_ID_BYTES + SIGNATURE_BYTES) continue;
    for (const key of keys) {
      if (toHex(bytes.subarray(0, KEY_ID_BYTES)) !== (await computeKeyId(signer, key))) continue;
      if (await isSignedBy(key, encodeUtf8(text), bytes.subarray(KEY_ID_BYTES))) return signer;
    }
  }
  return null;
}

/** Returns true if an Ed25519 signature is valid. `key` is the public key in hex. Throws if the platform lacks Ed25519. */
export async function isSignedBy(key: string, text: Bytes, signature: Bytes): Promise<boolean> {
  const imported = await crypto.subtle.importKey('raw', fromHex(key), 'Ed25519', false, ['verify']);
  const isValid: unknown = await crypto.subtle.verify('Ed25519', imported, signature, text);
  return isValid === true;
}

/** Computes the key id of C2SP signed notes, in hex: the first 4 bytes of a SHA-256 of name, algorithm and public key. */
async function computeKeyId(name: string, key: string): Promise<string> {
  const hash = await sha256(encodeUtf8(`${name}\n`), Uint8Array.of(ED25519), fromHex(key));
  return toHex(hash.subarray(0, KEY_ID_BYTES));
}
