import type { Pages } from './pages.js';
import type { HeldPage, Staging } from './staging.js';

type Sight = Pick<Staging<{ document: string }>, 'seen' | 'see'>;

/** The pages of one pass: which were known, which moved, and what is to be remembered of them. */
export class HeldPages {
  readonly #visited = new Set<number>();
  #last = -1;
  /** Pages that did not stand as the read before had found them. */
  moved = 0;
  #held: HeldPage[] = [];
  readonly #pages: Pages;
  readonly #trusted: boolean;

  /** What is remembered of pages is not trusted after a read that wrote and never came to its end. */
  constructor(pages: Pages, trusted: boolean) {
    this.#pages = pages;
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
  visit(page: number, digest: string, staging: Sight): readonly number[] | null {
    this.#visited.add(page);
    this.#last = Math.max(this.#last, page);
    const stored = this.#trusted ? this.#pages.get(page) : undefined;
    const isKnown = stored?.digest === digest && !stored.versions.some(version => staging.seen.has(version));
    if (isKnown) {
      staging.see(stored.versions);
      return null;
    }
    this.moved += 1;
    return stored?.versions ?? [];
  }

  hold(page: HeldPage): void {
    this.#held.push(page);
  }

  /** Inside a transaction: remembers the pages whose rows are all written. */
  keep(): void {
    for (const page of this.#held) if (page.waiting === 0) this.#pages.put(page.number, page);
    this.#held = this.#held.filter(page => page.waiting > 0);
  }

  /** Inside a transaction, before any row is closed: forgets pages that this pass has not seen just so. */
  dropStale(repeated: number): void {
    if (this.#last < 0) return;
    const isWhole = repeated === 0 && this.#visited.size === this.#last + 1;
    this.#pages.dropFrom(isWhole ? this.#last + 1 : 0);
  }
}
