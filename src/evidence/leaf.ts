import { type LeafContent, createAuthenticationCodes } from './authentication-codes.js';
import { sha256 } from './hashes.js';
import { type LeafRecord, type LeafInput, type Leaf, type LeafKind, NUMBERED_KINDS } from './port.js';

/**
 * Computes the commitment of a leaf: SHA-256 of its salt and its record as canonical JSON. Without the random salt, anyone could
 * find out what a commitment is about by trying all plausible records.
 */
export function computeCommitment(salt: Uint8Array, recordJson: string): Buffer {
  return sha256(salt, Buffer.from(recordJson));
}

/** Creates the leaf of an input, with authentication codes that are made with `codeKey`. Stores nothing. */
export function createLeaf(input: LeafInput, salt: Uint8Array, leafIndex: number, codeKey: Uint8Array): Leaf {
  const content = createLeafContent(input, salt, leafIndex);
  return { ...content, ...createAuthenticationCodes(content, codeKey) };
}

/** Creates a leaf as `createLeaf` does, but without authentication codes. */
export function createLeafContent(input: LeafInput, salt: Uint8Array, leafIndex: number): LeafContent {
  const { kind, number, subject, resource, ended, observed, dated, micro, read_at, is_complete } = input;
  const countingColumns = { subject, resource, ended, observed, dated, micro, read_at, is_complete };
  const text = toCanonicalJson(input.record);
  const record = isNumberedKind(kind) ? null : text;
  return {
    ...countingColumns,
    record,
    place: leafIndex,
    kind,
    number: number ?? leafIndex,
    salt,
    commitment: computeCommitment(salt, text),
  };
}

/** Returns true for the kinds `change`, `sync` and `unchanged`, whose records the mirror stores. */
export function isNumberedKind(kind: LeafKind): boolean {
  return NUMBERED_KINDS.some(each => each === kind);
}

/** Returns true if the commitment of a leaf is that of this canonical JSON. False if the salt of the leaf was erased. */
export function isCommittedTo({ salt, commitment }: Leaf, recordJson: string): boolean {
  return salt !== null && computeCommitment(salt, recordJson).equals(commitment);
}

/**
 * Parses the record that a leaf stores. Returns an empty record if there is no leaf, if its kind stores none, or if somebody
 * replaced it with invalid JSON. Does not check the record.
 */
export function parseLeafRecord(leaf: Leaf | undefined): LeafRecord {
  try {
    return Object(JSON.parse(leaf?.record ?? 'null'));
  } catch {
    return {};
  }
}

/** Formats a record as canonical JSON (RFC 8785). Omits null fields, so a column that is added later changes no older record. */
export function toCanonicalJson(record: LeafRecord): string {
  let text = '';
  for (const name of Object.keys(record).toSorted()) {
    const cell = record[name] ?? null;
    if (cell === null) continue;
    text += `${text === '' ? '' : ','}"${name}":${typeof cell === 'string' ? JSON.stringify(cell) : String(cell)}`;
  }
  return `{${text}}`;
}
