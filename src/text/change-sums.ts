import type { Said } from './change.js';
import { tonnesOf } from './tonnes.js';

interface Moved {
  rise: bigint;
  fall: bigint;
  notSummed: number;
}

/** Adds up what moved. In and out are what was seen between reads: what came and went within one is not seen. */
export class Sums {
  readonly #kinds = { added: 0, changed: 0, removed: 0 };
  readonly #moved = new Map<string, Moved>();

  add({ resource, change, before, after }: Said): void {
    this.#kinds[change] += 1;
    if (!SUMMED.includes(resource)) return;
    const moved = this.#moved.get(resource) ?? { rise: 0n, fall: 0n, notSummed: 0 };
    this.#moved.set(resource, moved);
    const from = before === null ? 0n : microOf(before['amount_micro']);
    const to = after === null ? 0n : microOf(after['amount_micro']);
    if (from === null || to === null) moved.notSummed += 1;
    else if (to > from) moved.rise += to - from;
    else if (to < from) moved.fall += from - to;
  }

  lines(): string[] {
    const { added, changed, removed } = this.#kinds;
    const head = `${added + changed + removed} changes: ${added} added, ${changed} changed, ${removed} removed`;
    const each = SUMMED.flatMap(resource => {
      const moved = this.#moved.get(resource);
      return moved === undefined ? [] : [`${resource}: ${wordsOf(moved)}`];
    });
    return [head, ...each];
  }
}

const SUMMED = ['warehouse', 'inventory', 'retirements'];

function wordsOf({ rise, fall, notSummed }: Moved): string {
  const seen = `seen to rise by ${tonnesOf(rise)} t and to fall by ${tonnesOf(fall)} t between reads`;
  return notSummed === 0 ? seen : `${seen}; ${notSummed} without a usable amount`;
}

function microOf(value: unknown): bigint | null {
  return typeof value === 'number' || typeof value === 'string' ? BigInt(value) : null;
}
