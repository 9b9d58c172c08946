import { hash } from 'node:crypto';
import type { HeldPage } from './held-page.js';
import type { List, MirrorPort, StoredPage } from '../port.js';
import type { Slice } from './staging.js';

/** What has been seen so far in this pass. */
export interface Sight {
  readonly seen: { has(version: number): boolean };
  see(versions: readonly number[]): void;
}

/** Pages that are asked for at once. */
const BLOCK = 64;

/** The pages of one pass: which were known, which moved, and what is to be remembered of them. */
export class HeldPages {
  readonly #visited = new Set<number>();
  #last = -1;
  /** Pages that did not stand as the read before had found them. */
  moved = 0;
  #held: HeldPage[] = [];
  #block = new Map<number, StoredPage>();
  #blockFrom = -1;
  readonly #port: MirrorPort;
  readonly #list: List;
  readonly #trusted: boolean;

  /** What is remembered of pages is not trusted after a read that wrote and never came to its end. */
  constructor(port: MirrorPort, list: List, trusted: boolean) {
    this.#port = port;
    this.#list = list;
    this.#trusted = trusted;
  }

  get visited(): number {
    return this.#visited.size;
  }

  get waiting(): number {
    return this.#held.length;
  }

  /**
   * A page that stands as it stood is known by its digest, and so are the rows on it: the answer is null.
   * For any other one it is the versions that stood there.
   */
  async visit(page: number, digest: string, staging: Sight): Promise<readonly number[] | null> {
    const stored = await this.#stored(page);
    this.#visited.add(page);
    this.#last = Math.max(this.#last, page);
    const isKnown = stored?.digest === digest && !stored.versions.some(version => staging.seen.has(version));
    if (isKnown) {
      staging.see(stored.versions);
      return null;
    }
    this.moved += 1;
    return stored?.versions ?? [];
  }

  keep(page: HeldPage): void {
    this.#held.push(page);
  }

  /** The pages whose rows are all written once this slice is. */
  readyWith(slice: Slice): StoredPage[] {
    const written = new Map<HeldPage | null, Slice['entries'][number][]>();
    for (const entry of slice.entries) {
      const of = written.get(entry.page);
      if (of === undefined) written.set(entry.page, [entry]);
      else of.push(entry);
    }
    return this.#held.flatMap(page => {
      return page.with(written.get(page) ?? []) ?? [];
    });
  }

  /** After a commit: those whose rows are all written are remembered by now. */
  forgetWritten(): void {
    this.#held = this.#held.filter(page => !page.isWritten);
  }

  /** From which page on none is as this pass has seen it; null where there were no pages. */
  staleFrom(repeated: number): number | null {
    if (this.#last < 0) return null;
    const isWhole = repeated === 0 && this.#visited.size === this.#last + 1;
    return isWhole ? this.#last + 1 : 0;
  }

  async #stored(page: number): Promise<StoredPage | undefined> {
    if (!this.#trusted) return undefined;
    const from = page - (page % BLOCK);
    if (from !== this.#blockFrom || this.#visited.has(page)) {
      const block = await this.#port.pages(this.#list, from, BLOCK);
      this.#block = new Map(block.map(stored => [stored.page, stored]));
      this.#blockFrom = from;
    }
    return this.#block.get(page);
  }
}

/** A hash of the documents in their order. JSON holds no NUL, so that no two pages are joined to the same text. */
export function digestOf(items: readonly { document: string }[]): string {
  return hash('sha256', items.map(item => item.document).join('\0'));
}
