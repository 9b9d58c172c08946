import type { Change } from './change.js';
import { tonnesOf, typeName } from './tonnes.js';

interface Moved {
  first: bigint;
  /** When the last of what was seen first was. */
  firstBy: string;
  rise: bigint;
  fall: bigint;
  notSummed: number;
}

/** By a list and its organization, with a space between: the end of its first complete read. */
type Openings = ReadonlyMap<string, string>;

/** Adds up what moved: what a list showed until it had been read completely once is what it began with. In and out are what was seen between reads: what came and went within one is not seen. */
export class Sums {
  readonly #kinds = { added: 0, changed: 0, removed: 0 };
  readonly #moved = new Map<string, Moved>();
  readonly #openings: Openings;

  constructor(openings: Openings) {
    this.#openings = openings;
  }

  add({ resource, change, before, after, organization_id: organizationId, observed_at: at }: Change): void {
    this.#kinds[change] += 1;
    if (!SUMMED.includes(resource)) return;
    const type = (after ?? before ?? {})['type'];
    const what = typeof type === 'string' ? `${resource} ${typeName(type)}` : resource;
    const moved = this.#moved.get(what) ?? { first: 0n, firstBy: '', rise: 0n, fall: 0n, notSummed: 0 };
    this.#moved.set(what, moved);
    const from = before === null ? 0n : microOf(before['amount_micro']);
    const to = after === null ? 0n : microOf(after['amount_micro']);
    const opened = this.#openings.get(`${resource} ${organizationId}`);
    if (from === null || to === null) moved.notSummed += 1;
    else if (opened === undefined || at <= opened) {
      moved.first += to - from;
      if (at > moved.firstBy) moved.firstBy = at;
    } else if (to > from) moved.rise += to - from;
    else if (to < from) moved.fall += from - to;
  }

  lines(): string[] {
    const { added, changed, removed } = this.#kinds;
    const head = `${added + changed + removed} changes: ${added} added, ${changed} changed, ${removed} removed`;
    const each = [...this.#moved].map(([what, moved]) => `${what}: ${wordsOf(moved)}`);
    return [head, ...each.toSorted(inOrder)];
  }
}

const SUMMED = ['warehouse', 'inventory', 'retirements'];

function inOrder(one: string, other: string): number {
  const [place, otherPlace] = [one, other].map(line => SUMMED.findIndex(name => line.startsWith(name)));
  return (place ?? 0) - (otherPlace ?? 0) || (one < other ? 1 : -1);
}

function wordsOf({ first, firstBy, rise, fall, notSummed }: Moved): string {
  const opening = firstBy === '' ? '' : `began with ${tonnesOf(first)} t, read by ${firstBy}; `;
  const seen = `${opening}seen to rise by ${tonnesOf(rise)} t and to fall by ${tonnesOf(fall)} t between reads`;
  return notSummed === 0 ? seen : `${seen}; ${notSummed} without an amount that can be added`;
}

function microOf(value: unknown): bigint | null {
  return typeof value === 'number' || typeof value === 'string' ? BigInt(value) : null;
}
