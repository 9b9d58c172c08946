import { type Bytes, encodeUtf8, fromBase64, fromHex, isHash, isInstant, sha256, toHex } from './bytes.js';
import { Fault } from './fault.js';

const BASE64 = '([A-Za-z0-9+/]+={0,2})';
const CHECKPOINT = /^([^\n]+)\n([1-9][0-9]{0,14})\n([A-Za-z0-9+/]{43}=)\n([^\n]+)\n$/;
const SIGNATURE_LINE = new RegExp(`^— ([^\\s+]+) ${BASE64}$`);
const VERIFIER_KEY = new RegExp(`^([^\\s+]+)[+]([0-9a-f]{8})[+]${BASE64}$`);
/** The number of Ed25519 in C2SP notes. */
const ED25519 = 1;
const KEY_ID_BYTES = 4;
const SIGNATURE_BYTES = 64;

/** A C2SP signed note whose text is origin, size, root and instant, one on a line. */
export interface Checkpoint {
  readonly origin: string;
  /** The number of leaves that the checkpoint covers. */
  readonly size: number;
  /** The root hash in hex. */
  readonly root: string;
  /** When its signer says that it was signed. */
  readonly instant: string;
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

interface NoteSignature {
  readonly signer: string;
  /** The key id and the signature. */
  readonly bytes: Bytes;
}

/** A public key. The name is null if only the key was given. */
export interface VerifierKey {
  readonly name: string | null;
  readonly hex: string;
}

/** Parses a checkpoint. `description` says which one, for the message of a fault. */
export function parseCheckpoint(note: string, description: string): Checkpoint {
  const fault = new Fault(`${description} is not a checkpoint`);
  const end = note.indexOf('\n\n') + 1;
  const text = note.slice(0, end);
  const [, origin, size, root = '', instant] = CHECKPOINT.exec(text) ?? [];
  const rootBytes = fromBase64(root);
  const lines = note.slice(end + 1).split('\n');
  if (origin === undefined || !isInstant(instant) || rootBytes === null || lines.pop() !== '') throw fault;
  if (lines.length === 0 || new Set(lines).size < lines.length) throw fault;
  const signatures = lines.map(line => {
    const [, signer, base64 = ''] = SIGNATURE_LINE.exec(line) ?? [];
    const bytes = fromBase64(base64);
    if (signer === undefined || bytes === null) throw fault;
    return { signer, bytes };
  });
  return { origin, size: Number(size), root: toHex(rootBytes), instant, text, signatures };
}

/** Parses 64 hex digits, or NAME+ID+KEY as C2SP writes it. Returns null for any other text. */
export async function parseVerifierKey(text: string): Promise<VerifierKey | null> {
  if (isHash(text)) return { name: null, hex: text };
  const [, name = '', id, base64 = ''] = VERIFIER_KEY.exec(text) ?? [];
  const bytes = fromBase64(base64);
  if (bytes === null || bytes.length !== 33 || bytes[0] !== ED25519) return null;
  const hex = toHex(bytes.subarray(1));
  return (await computeKeyId(name, hex)) === id ? { name, hex } : null;
}

/**
 * Returns the name under which one of these keys signed a checkpoint, or null. The origin must be that name, or begin with it and
 * a slash. A signature under another name does not count, nor does one under a name other than `name`.
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

/** Checks an Ed25519 signature. `key` is the public key in hex. */
export async function isSignedBy(key: string, text: Bytes, signature: Bytes): Promise<boolean> {
  const imported = await crypto.subtle.importKey('raw', fromHex(key), 'Ed25519', false, ['verify']);
  const isValid: unknown = await crypto.subtle.verify('Ed25519', imported, signature, text);
  return isValid === true;
}

/** Computes the id of a key in C2SP notes: the start of a hash of name, algorithm and key. */
async function computeKeyId(name: string, key: string): Promise<string> {
  const hash = await sha256(encodeUtf8(`${name}\n`), Uint8Array.of(ED25519), fromHex(key));
  return toHex(hash.subarray(0, KEY_ID_BYTES));
}
