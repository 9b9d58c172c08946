import { sha256 } from './hashes.js';
import { type Cells, type Observation, type Leaf, NUMBERED } from './port.js';

/** Without its salt nobody can tell of whom a commitment speaks, not even by trying all there could be. */
export function commit(salt: Uint8Array, canonical: string): Buffer {
  return sha256(salt, Buffer.from(canonical));
}

export function leafOf(salt: Uint8Array, fact: Observation, place: number): Leaf {
  const { kind, number, subject, resource, ended, observed, dated, micro, read_at, is_complete } = fact;
  const plain = { subject, resource, ended, observed, dated, micro, read_at, is_complete };
  const text = canonicalJson(fact.record);
  const record = isNumbered(kind) ? null : text;
  return { ...plain, record, place, kind, number: number ?? place, salt, commitment: commit(salt, text) };
}

export function isNumbered(kind: Leaf['kind']): boolean {
  return NUMBERED.some(each => each === kind);
}

/** Whether a leaf is of this record. Without its salt nobody can say so. */
export function isSealed({ salt, commitment }: Leaf, canonical: string): boolean {
  return salt !== null && commit(salt, canonical).equals(commitment);
}

/** What a leaf says by its own text; nothing where somebody made that no JSON. */
export function recordOf(leaf: Leaf | undefined): Cells {
  try {
    return Object(JSON.parse(leaf?.record ?? 'null'));
  } catch {
    return {};
  }
}

/** As RFC 8785 writes it. A cell without a value is left out: so a column that is added later changes no older record. */
export function canonicalJson(record: Cells): string {
  let text = '';
  for (const name of Object.keys(record).toSorted()) {
    const cell = record[name] ?? null;
    if (cell === null) continue;
    text += `${text === '' ? '' : ','}"${name}":${typeof cell === 'string' ? JSON.stringify(cell) : String(cell)}`;
  }
  return `{${text}}`;
}
