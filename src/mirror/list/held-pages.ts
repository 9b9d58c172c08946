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

type Block = ReadonlyMap<number, StoredPage>;

/** The pages of one pass: which were known, which moved, and what is to be remembered of them. */
export class HeldPages {
  readonly #visited = new Set<number>();
  #last = -1;
  /** Pages that did not stand as the read before had found them. */
  moved = 0;
  #held: HeldPage[] = [];
  /** By the first of their pages: that of the pass, and that which is read ahead. */
  readonly #blocks = new Map<number, Block | Promise<Block>>();
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

  /** A page that stands as it stood is known by its digest, and so are the rows on it: how many. Null for any other. */
  async pass(page: number, digest: string, staging: Sight): Promise<number | null> {
    const stored = await this.#stored(page);
    const isKnown = stored?.digest === digest && !stored.versions.some(version => staging.seen.has(version));
    if (!isKnown) return null;
    this.#note(page);
    staging.see(stored.versions);
    return stored.versions.length;
  }

  /** For one that does not stand as it stood: the versions that stood there. */
  async visit(page: number): Promise<readonly number[]> {
    const stored = await this.#stored(page);
    this.#note(page);
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

  #note(page: number): void {
    this.#visited.add(page);
    this.#last = Math.max(this.#last, page);
  }

  /** Asked ahead of the pass: a block is looked up once, unless a page of it is visited again. */
  isKnown(page: number, digest: string): boolean | Promise<boolean> {
    if (!this.#trusted) return false;
    const isSame = (block: Block) => block.get(page)?.digest === digest;
    const block = this.#blocks.get(page - (page % BLOCK)) ?? this.#look(page);
    return block instanceof Promise ? block.then(isSame) : isSame(block);
  }

  async #stored(page: number): Promise<StoredPage | undefined> {
    if (!this.#trusted) return undefined;
    const known = this.#visited.has(page) ? undefined : this.#blocks.get(page - (page % BLOCK));
    return (await (known ?? this.#look(page))).get(page);
  }

  #look(page: number): Promise<Block> {
    const from = page - (page % BLOCK);
    this.#blocks.delete(from - 2 * BLOCK);
    const looked = this.#port.pages(this.#list, from, BLOCK).then(stored => {
      const block = new Map(stored.map(each => [each.page, each]));
      this.#blocks.set(from, block);
      return block;
    });
    this.#blocks.set(from, looked);
    return looked;
  }
}

/** A hash of the documents in their order. JSON holds no NUL, so that no two pages are joined to the same text. */
export function digestOf(items: readonly { document: string }[]): string {
  return hash('sha256', items.map(item => item.document).join('\0'));
}
