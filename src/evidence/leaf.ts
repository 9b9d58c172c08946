import { type Codes, createCodes } from './authentication-codes.js';
import { sha256 } from './hashes.js';
import { type Cells, type Observation, type Leaf, NUMBERED_KINDS } from './port.js';

/** The salt keeps anybody from finding out what a commitment is about by trying all possible records. */
export function computeCommitment(salt: Uint8Array, canonical: string): Buffer {
  return sha256(salt, Buffer.from(canonical));
}

/** Creates a leaf with its authentication codes. */
export function createLeaf(
  observation: Observation,
  salt: Uint8Array,
  place: number,
  codeKey: Uint8Array,
): Leaf {
  const leaf = createLeafContent(salt, observation, place);
  return { ...leaf, ...createCodes(leaf, codeKey) };
}

/** Returns the content of a leaf without authentication codes. */
export function createLeafContent(
  salt: Uint8Array,
  observation: Observation,
  place: number,
): Omit<Leaf, keyof Codes> {
  const { kind, number, subject, resource, ended, observed, dated, micro, read_at, is_complete } =
    observation;
  const plain = { subject, resource, ended, observed, dated, micro, read_at, is_complete };
  const text = toCanonicalJson(observation.record);
  const record = isNumberedKind(kind) ? null : text;
  return {
    ...plain,
    record,
    place,
    kind,
    number: number ?? place,
    salt,
    commitment: computeCommitment(salt, text),
  };
}

export function isNumberedKind(kind: Leaf['kind']): boolean {
  return NUMBERED_KINDS.some(each => each === kind);
}

/** Whether a leaf commits to this record. False if its salt was erased. */
export function isCommittedTo({ salt, commitment }: Leaf, canonical: string): boolean {
  return salt !== null && computeCommitment(salt, canonical).equals(commitment);
}

/** Returns the record that a leaf stores; empty if there is none, or if somebody replaced it with invalid JSON. */
export function parseLeafRecord(leaf: Leaf | undefined): Cells {
  try {
    return Object(JSON.parse(leaf?.record ?? 'null'));
  } catch {
    return {};
  }
}

/** Writes a record as RFC 8785 does. Cells without a value are left out, so a column that is added later changes no older record. */
export function toCanonicalJson(record: Cells): string {
  let text = '';
  for (const name of Object.keys(record).toSorted()) {
    const cell = record[name] ?? null;
    if (cell === null) continue;
    text += `${text === '' ? '' : ','}"${name}":${typeof cell === 'string' ? JSON.stringify(cell) : String(cell)}`;
  }
  return `{${text}}`;
}
