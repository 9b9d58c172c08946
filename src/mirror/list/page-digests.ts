import { hashId } from '../../registry/pages/id-set.js';
import type { ReadPage } from '../mirror.js';
import type { Opening } from '../port.js';

/** Of a digest in hex; enough to tell any two pages of a list apart. */
const KEPT = 16;

/** Sums of the fingerprints of keys. */
interface Prints {
  readonly there: number;
  readonly added: number;
}

/** A page as it is remembered. */
interface Remembered {
  readonly text: string;
  readonly rows: number;
  readonly print: number;
}

/** What the pages of a list and the groups of rows on them were when it was read last, and what they are in this pass. */
export class PageDigests {
  readonly #before: string;
  readonly #pages = new Map<string, Remembered>();
  readonly #groups = new Set<string>();
  readonly #seen: string[] = [];
  #print = 0;
  /** Pages whose rows were looked at. */
  visited = 0;
  /** Pages and groups whose rows were not. */
  passed = 0;
  /** A row stood on two pages: which of them is as the mirror has it cannot be told. */
  repeated = false;

  /** Rows are passed only after a read that left the mirror as the list was. The first word sums up its keys. */
  constructor(
    { pageDigests, outcome, isBroken }: Pick<Opening, 'pageDigests' | 'outcome' | 'isBroken'>,
    full: boolean,
  ) {
    this.#before = isBroken || full ? '' : (pageDigests ?? '');
    if (outcome === 'complete') for (const text of this.#before.split(' ').slice(1)) this.#remember(text);
  }

  readonly rowsOf = (page: string) => this.#pages.get(kept(page))?.rows;

  readonly hasGroup = (group: string) => this.#groups.has(kept(group));

  get isQuiet(): boolean {
    const [sum = ''] = this.#before.split(' ', 1);
    return !this.repeated && this.#seen.length > 0 && `${sum} ${this.#sorted}` === this.#before;
  }

  get #sorted(): string {
    return this.#seen.toSorted().join(' ');
  }

  /** Answers how many of its rows stand as they stood. */
  take({ digest, isKnown, known, unknown }: Omit<ReadPage<unknown>, 'items' | 'arrivedAt'>): number {
    const page = isKnown ? this.#pages.get(kept(digest)) : undefined;
    if (page !== undefined) {
      this.passed += 1;
      this.#print += page.print;
      this.#seen.push(page.text);
      return page.rows;
    }
    const [passed, rest] = [known, unknown].map(groups => groups.flatMap(({ ids }) => ids));
    const print = printOf(passed ?? []);
    this.passed += known.length;
    this.#print += print;
    if (known.length === 0 || unknown.length > 0) this.visited += 1;
    const groups = [...known, ...unknown].map(group => kept(group.digest)).toSorted();
    const rows = (passed ?? []).length + (rest ?? []).length;
    this.#seen.push([kept(digest), rows, print + printOf(rest ?? []), groups.join()].join(':'));
    return (passed ?? []).length;
  }

  /** Whether a row was seen twice for one that was not seen: as many as there were, but others. */
  areMixed({ there }: Prints): boolean {
    return this.repeated || this.#print + there !== Number(this.#before.split(' ', 1)[0]);
  }

  /** Null where they are not to be remembered, absent where they are what is remembered. */
  seen({ there, added }: Prints): string | null | undefined {
    if (this.repeated || this.#seen.length === 0) return null;
    const seen = `${this.#print + there + added} ${this.#sorted}`;
    return seen === this.#before ? undefined : seen;
  }

  #remember(text: string): void {
    const [digest = '', rows, print, groups = ''] = text.split(':');
    this.#pages.set(digest, { text, rows: Number(rows), print: Number(print) });
    for (const group of groups.split(',')) this.#groups.add(group);
  }
}

function kept(digest: string): string {
  return digest.slice(0, KEPT);
}

function printOf(ids: readonly string[]): number {
  return ids.reduce((sum, id) => sum + hashId(id), 0);
}
