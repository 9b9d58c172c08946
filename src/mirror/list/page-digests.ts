import { fingerprint } from '../../registry/pages/seen.js';
import type { Opening } from '../port.js';

/** Of a digest in hex; enough to tell any two pages of a list apart. */
const KEPT = 16;

/** Sums of the fingerprints of keys. */
interface Prints {
  readonly there: number;
  readonly added: number;
}

/** What the pages of a list were when it was read last, and what they are in this pass. */
export class PageDigests {
  readonly #before: readonly string[];
  readonly #known: ReadonlySet<string>;
  readonly #seen: string[] = [];
  #print = 0;
  passed = 0;
  /** A row stood on two pages: which of them is as the mirror has it cannot be told. */
  repeated = false;

  /** Pages are passed only after a read that left the mirror as the list was. The first word sums up its keys. */
  constructor({ pageDigests, outcome, isBroken }: Opening, full: boolean) {
    this.#before = isBroken || full ? [] : (pageDigests?.split(' ') ?? []);
    this.#known = new Set(outcome === 'complete' ? this.#before.slice(1) : []);
  }

  get visited(): number {
    return this.#seen.length;
  }

  get isQuiet(): boolean {
    return !this.repeated && this.#seen.length > 0 && this.#seen.join() === this.#before.slice(1).join();
  }

  knows(digest: string): boolean {
    return this.#known.has(digest.slice(0, KEPT));
  }

  pass(digest: string, ids: readonly string[]): void {
    this.visit(digest);
    this.passed += 1;
    for (const id of ids) this.#print += fingerprint(id);
  }

  visit(digest: string): void {
    this.#seen.push(digest.slice(0, KEPT));
  }

  /** Whether a row was seen twice for one that was not seen: as many as there were, but others. */
  areMixed({ there }: Prints): boolean {
    return this.repeated || this.#print + there !== Number(this.#before[0]);
  }

  /** Null where they are not to be remembered. */
  seen({ there, added }: Prints): string | null {
    const print = this.#print + there + added;
    return this.repeated || this.#seen.length === 0 ? null : [print, ...this.#seen].join(' ');
  }
}
