import { sha256 } from './hashes.js';

type Cell = string | number | bigint | null;
/** A row as people read it, by its columns. */
export type Cells = Readonly<Record<string, Cell>>;

/** Without its salt nobody can tell of whom a commitment speaks, not even by trying all there could be. */
export function commit(salt: Uint8Array, canonical: string): Buffer {
  return sha256(salt, Buffer.from(canonical));
}

/** Whether a leaf is of this record. Without its salt nobody can say so. */
export function isSealed(
  leaf: { readonly salt: Uint8Array | null; readonly commitment: Uint8Array } | undefined,
  canonical: string,
): boolean {
  return leaf?.salt != null && commit(leaf.salt, canonical).equals(leaf.commitment);
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
