import type { StoredPage } from '../port.js';

/** A page whose digest is to be remembered once all its rows have their versions. */
export class HeldPage {
  readonly #number: number;
  readonly #digest: string;
  readonly #versions: number[];
  /** Rows that are not written yet. */
  #waiting = 0;

  constructor(number: number, digest: string, rows: number) {
    this.#number = number;
    this.#digest = digest;
    this.#versions = Array.from({ length: rows }, () => 0);
  }

  get isWritten(): boolean {
    return this.#waiting === 0;
  }

  /** The row in this place stands in the mirror as it came. */
  know(slot: number, version: number): void {
    this.#versions[slot] = version;
  }

  /** One more of its rows is to be written. */
  expect(): void {
    this.#waiting += 1;
  }

  written(slot: number, version: number): void {
    this.know(slot, version);
    this.#waiting -= 1;
  }

  /** As it stands once these rows are written; null where others still wait. */
  with(rows: readonly { readonly slot: number; readonly insert: number }[]): StoredPage | null {
    if (this.#waiting > rows.length) return null;
    const versions = [...this.#versions];
    for (const { slot, insert } of rows) versions[slot] = -insert - 1;
    return { page: this.#number, digest: this.#digest, versions };
  }
}
