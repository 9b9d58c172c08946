import { hashId } from '../../registry/pages/id-set.js';
import type { ObservedPage } from '../mirror.js';
import type { ListState } from '../port/read.js';

/** Hexadecimal digits of a digest that are stored: enough to tell any two pages of a list apart. */
const DIGEST_DIGITS = 16;

/** A page of the previous read, and its serialized form. */
interface RememberedPage {
  readonly text: string;
  readonly rowCount: number;
  readonly fingerprintSum: number;
}

/**
 * Remembers the digests of a list's pages, and of the row groups on them, from one read to the next, so that unchanged
 * pages need not be compared. Keys are remembered only as a sum of fingerprints, to notice when rows were exchanged.
 *
 * Serialized form: the sum of all key fingerprints, then the pages in sorted order, separated by spaces; each page as
 * `digest:rowCount:fingerprintSum:groupDigest,groupDigest`.
 */
export class PageDigests {
  /** The serialized form of the previous read; empty if nothing of it may be used. */
  readonly #previous: string;
  readonly #rememberedPages = new Map<string, RememberedPage>();
  readonly #rememberedGroups = new Set<string>();
  readonly #recordedPages: string[] = [];
  /** Sum of the key fingerprints of skipped rows. */
  #skippedSum = 0;
  /** Pages of this read whose rows were compared. */
  comparedPages = 0;
  /** Pages and groups of this read whose rows were skipped as unchanged. */
  skippedCount = 0;
  /** Set when a row was on two pages: it is then unknown which of the two the mirror has stored. */
  hasRepeatedRow = false;

  /** Loads the digests of the previous read. Rows are skipped only if that read was complete and this one is not full. */
  constructor(
    { pageDigests, outcome, hasOpenSync }: Pick<ListState, 'pageDigests' | 'outcome' | 'hasOpenSync'>,
    isFullRead: boolean,
  ) {
    this.#previous = hasOpenSync || isFullRead ? '' : (pageDigests ?? '');
    if (outcome !== 'complete') return;
    for (const text of this.#previous.split(' ').slice(1)) this.#rememberPage(text);
  }

  /** Returns how many rows the previous read saw on the page with this digest. Returns undefined if it saw no such page. */
  readonly getRowCount = (pageDigest: string) =>
    this.#rememberedPages.get(shortenDigest(pageDigest))?.rowCount;

  /** Whether the previous read saw a group of rows with this digest. */
  readonly hasGroup = (groupDigest: string) => this.#rememberedGroups.has(shortenDigest(groupDigest));

  /** Whether this read has seen exactly the same pages as the previous one. */
  get isUnchanged(): boolean {
    if (this.hasRepeatedRow || this.#recordedPages.length === 0) return false;
    return `${this.#previousSum} ${this.#sortedPages}` === this.#previous;
  }

  /** The sum of all key fingerprints of the previous read: the first word of its serialized form. */
  get #previousSum(): string {
    const [sum = ''] = this.#previous.split(' ', 1);
    return sum;
  }

  /** The serialized pages of this read, in an order that does not depend on when they came. */
  get #sortedPages(): string {
    return this.#recordedPages.toSorted().join(' ');
  }

  /**
   * Records the digests of a page. Returns how many of its rows are unchanged since the previous read and need no comparison.
   */
  recordPage(page: Omit<ObservedPage<unknown>, 'items' | 'arrivedAt'>): number {
    const { digest, isKnown, knownGroups, unknownGroups } = page;
    const remembered = isKnown ? this.#rememberedPages.get(shortenDigest(digest)) : undefined;
    if (remembered !== undefined) {
      this.skippedCount += 1;
      this.#skippedSum += remembered.fingerprintSum;
      this.#recordedPages.push(remembered.text);
      return remembered.rowCount;
    }
    const skippedIds = knownGroups.flatMap(({ ids }) => ids);
    const comparedIds = unknownGroups.flatMap(({ ids }) => ids);
    const skippedSum = sumFingerprints(skippedIds);
    this.skippedCount += knownGroups.length;
    this.#skippedSum += skippedSum;
    if (knownGroups.length === 0 || unknownGroups.length > 0) this.comparedPages += 1;
    const rowCount = skippedIds.length + comparedIds.length;
    const pageSum = skippedSum + sumFingerprints(comparedIds);
    const groups = [...knownGroups, ...unknownGroups].map(group => shortenDigest(group.digest)).toSorted();
    this.#recordedPages.push([shortenDigest(digest), rowCount, pageSum, groups.join()].join(':'));
    return skippedIds.length;
  }

  /**
   * Whether this read may have missed a stored row or received a row twice. `comparedSum` is the sum of the key fingerprints of
   * those compared rows that were stored before.
   */
  mayHaveMissedRows(comparedSum: number): boolean {
    // The number of rows may be right although one row came twice and another not at all.
    return this.hasRepeatedRow || this.#skippedSum + comparedSum !== Number(this.#previousSum);
  }

  /**
   * Returns the serialized page digests to store for the next read. Returns undefined if that text is known to be stored already. Returns
   * null if the next read must compare all pages. `comparedSums` has two sums of key fingerprints of the rows that this read compared:
   * `known` for the rows that were stored before, `added` for the new rows.
   */
  serialize(comparedSums: { readonly known: number; readonly added: number }): string | null | undefined {
    if (this.hasRepeatedRow || this.#recordedPages.length === 0) return null;
    const serialized = `${this.#skippedSum + comparedSums.known + comparedSums.added} ${this.#sortedPages}`;
    return serialized === this.#previous ? undefined : serialized;
  }

  /**
   * Parses the stored text of one page of the previous read and remembers its digests, so that an unchanged page or row group is
   * skipped.
   */
  #rememberPage(text: string): void {
    const [digest = '', rowCount, fingerprintSum, groups = ''] = text.split(':');
    this.#rememberedPages.set(digest, {
      text,
      rowCount: Number(rowCount),
      fingerprintSum: Number(fingerprintSum),
    });
    for (const group of groups.split(',')) this.#rememberedGroups.add(group);
  }
}

/** Returns the first 16 digits of a digest. */
function shortenDigest(digest: string): string {
  return digest.slice(0, DIGEST_DIGITS);
}

/** Adds the key fingerprints of rows. A fingerprint is a number derived from the id. */
function sumFingerprints(ids: readonly string[]): number {
  return ids.reduce((sum, id) => sum + hashId(id), 0);
}
