import type { ListChanges, VersionCells } from '../port/rows.js';
import type { PendingWrite } from './compare-rows.js';

/** Differences that one transaction writes. */
export interface WriteBatch extends Pick<ListChanges, 'inserts' | 'repairs' | 'projects'> {
  /** The key text of each insert, in the same order. */
  readonly keyTexts: readonly string[];
}

/** Buffers the differences that a read has found until they are written. */
export class PendingWrites {
  readonly #writes = new Map<string, PendingWrite>();
  /** Keys of the batch that is being written. */
  readonly #inFlight = new Set<string>();
  /** Projects that are already written as references. */
  readonly #writtenProjects = new Set<string>();
  #repairs: VersionCells[] = [];
  #length = 0;

  /** How many differences wait to be written, without those of the batch in flight. */
  get pendingCount(): number {
    return this.#writes.size - this.#inFlight.size;
  }

  /** How many repairs wait to be written. */
  get repairCount(): number {
    return this.#repairs.length;
  }

  /** How many characters the documents have that wait to be written. */
  get pendingLength(): number {
    return this.#length;
  }

  /** Whether a row with this key waits to be written. */
  has(keyText: string): boolean {
    return this.#writes.has(keyText);
  }

  /** Buffers a new version of the row with this key until it is written. The buffer must not contain a version of the row yet. */
  add(keyText: string, write: PendingWrite): void {
    this.#writes.set(keyText, write);
    this.#length += write.insert.document.length;
  }

  /** Adds the right column values of a row that somebody changed by hand. */
  addRepair({ version, cells }: VersionCells): void {
    this.#repairs.push({ version, cells });
  }

  /** Discards all buffered row versions. */
  clear(): void {
    this.#writes.clear();
    this.#inFlight.clear();
    this.#length = 0;
  }

  /**
   * Returns a batch for one transaction: up to `limit` buffered row versions and all repairs. The repairs leave the buffer at
   * once, the row versions only on `confirmWritten`.
   */
  takeBatch(limit: number): WriteBatch {
    const entries = [...this.#writes].slice(0, limit);
    const projects = new Set<string>();
    for (const [keyText, { projectId }] of entries) {
      if (projectId !== null && !this.#writtenProjects.has(projectId)) projects.add(projectId);
      this.#inFlight.add(keyText);
    }
    const repairs = this.#repairs;
    this.#repairs = [];
    const inserts = entries.map(([, { insert }]) => insert);
    return { inserts, repairs, keyTexts: entries.map(([keyText]) => keyText), projects: [...projects] };
  }

  /** Removes the row versions of a committed batch from the buffer, and remembers that its projects are written. */
  confirmWritten({ keyTexts, inserts, projects }: WriteBatch): void {
    for (const project of projects) this.#writtenProjects.add(project);
    for (const [index, { document }] of inserts.entries()) {
      if (this.#writes.delete(keyTexts[index] ?? '')) this.#length -= document.length;
    }
    this.#inFlight.clear();
  }
}
