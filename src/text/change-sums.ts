import type { Change } from './change.js';
import { formatTonnes, creditTypeName } from './tonnes.js';

const SUMMED = ['warehouse', 'inventory', 'retirements'];

/** What changes add up to: how many of each kind, and of these lists how much came and went, each type for itself. */
export function createChangeSums() {
  const kinds = { added: 0, changed: 0, removed: 0 };
  const moved = new Map<string, { came: bigint; went: bigint; notSummed: number }>();
  return {
    add: ({ resource, change, before, after }: Change): void => {
      kinds[change] += 1;
      if (!SUMMED.includes(resource)) return;
      const type = (after ?? before)?.['type'];
      const what = typeof type === 'string' ? `${resource} ${creditTypeName(type)}` : resource;
      const sum = moved.get(what) ?? { came: 0n, went: 0n, notSummed: 0 };
      const [from, to] = [microOf(before), microOf(after)];
      if (from === null || to === null) sum.notSummed += 1;
      else if (to > from) sum.came += to - from;
      else sum.went += from - to;
      moved.set(what, sum);
    },
    lines: (): string[] => {
      const { added, changed, removed } = kinds;
      const head = `${added + changed + removed} changes: ${added} added, ${changed} changed, ${removed} removed`;
      const each = [...moved].map(([what, { came, went, notSummed: left }]) => {
        const rest = left === 0 ? '' : `; ${left} without a usable amount`;
        return `${what}: +${formatTonnes(came)} t, -${formatTonnes(went)} t${rest}`;
      });
      return [head, ...each];
    },
  };
}

/** Of what is not listed, nothing. */
function microOf(cells: Change['before']): bigint | null {
  const micro = cells === null ? 0 : cells['amount_micro'];
  return typeof micro === 'number' || typeof micro === 'string' ? BigInt(micro) : null;
}
