import { sign } from 'node:crypto';
import { type Verifier, type SigningKey, isSignedBy, computeKeyId } from './signing-key.js';

/** The end of a signed note: an empty line, then one or more signature lines. */
const SIGNATURES_PATTERN = /^\n(— [^\s+]+ [A-Za-z0-9+/]+={0,2}\n)+$/;

/** Signs a text, which must end with a newline. Returns the C2SP signed note: the text, an empty line and the signature line. */
export function signNote(text: string, key: SigningKey): string {
  const signature = Buffer.concat([computeKeyId(key), sign(null, Buffer.from(text), key.privateKey)]);
  return `${text}\n— ${key.name} ${signature.toString('base64')}\n`;
}

/** Verifies a C2SP signed note. Returns its text if it has a valid signature of this key; otherwise null. */
export function openNote(note: string, key: Verifier): string | null {
  const end = note.lastIndexOf('\n\n') + 1;
  const text = note.slice(0, end);
  const start = `— ${key.name} `;
  const id = computeKeyId(key);
  const isValidSignature = (line: string): boolean => {
    const bytes = Buffer.from(line.slice(start.length), 'base64');
    const isOurs = line.startsWith(start) && bytes.subarray(0, id.length).equals(id);
    return isOurs && isSignedBy(key, Buffer.from(text), bytes.subarray(id.length));
  };
  const signatures = note.slice(end);
  return SIGNATURES_PATTERN.test(signatures) && signatures.split('\n').some(isValidSignature) ? text : null;
}
