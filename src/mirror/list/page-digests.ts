import { fingerprint } from '../../registry/pages/seen.js';
import type { Opening } from '../port.js';

/** Of a digest in hex; enough to tell any two pages of a list apart. */
const KEPT = 16;

/** Sums of the fingerprints of keys. */
interface Prints {
  readonly there: number;
  readonly added: number;
}

/** What the groups of rows on the pages of a list were when it was read last, and what they are in this pass. */
export class PageDigests {
  readonly #before: string;
  readonly #known: ReadonlySet<string>;
  readonly #seen: string[] = [];
  #print = 0;
  /** Pages whose rows were looked at, and groups whose rows were not. */
  visited = 0;
  passed = 0;
  /** A row stood on two pages: which of them is as the mirror has it cannot be told. */
  repeated = false;

  /** Groups are passed only after a read that left the mirror as the list was. The first word sums up its keys. */
  constructor({ pageDigests, outcome, isBroken }: Opening, full: boolean) {
    this.#before = isBroken || full ? '' : (pageDigests ?? '');
    this.#known = new Set(outcome === 'complete' ? this.#before.split(' ').slice(1) : []);
  }

  get isQuiet(): boolean {
    const [sum = ''] = this.#before.split(' ', 1);
    return !this.repeated && this.#seen.length > 0 && `${sum} ${this.#sorted}` === this.#before;
  }

  get #sorted(): string {
    return this.#seen.toSorted().join(' ');
  }

  knows(digest: string): boolean {
    return this.#known.has(digest.slice(0, KEPT));
  }

  pass(digest: string, ids: readonly string[]): void {
    this.#seen.push(digest.slice(0, KEPT));
    this.passed += 1;
    for (const id of ids) this.#print += fingerprint(id);
  }

  visit(digests: readonly string[]): void {
    this.#seen.push(...digests.map(digest => digest.slice(0, KEPT)));
    this.visited += 1;
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
}
