import type { Change } from './describe-change.js';
import { formatTonnes, formatCreditType } from './tonnes.js';

const SUMMED_RESOURCES = ['warehouse', 'inventory', 'retirements'];

/** Tonnes that appeared in and disappeared from one list, in micro-tonnes. */
interface TonnageMovement {
  gained: bigint;
  lost: bigint;
  /** Changes whose amount is not a number that can be added. */
  unsummableChanges: number;
}

/** Creates an empty summary, which counts the changes passed to `addChange` and sums the tonnes gained and lost in each list. */
export function createChangeSums() {
  const counts = { added: 0, changed: 0, removed: 0 };
  const movements = new Map<string, TonnageMovement>();

  /** Counts a change, and adds the tonnes that its row gained or lost to the sums of its list. */
  function addChange({ resource, change, before, after }: Change): void {
    counts[change] += 1;
    if (!SUMMED_RESOURCES.includes(resource)) return;
    const type = (after ?? before)?.['type'];
    const label = typeof type === 'string' ? `${resource} ${formatCreditType(type)}` : resource;
    const movement = movements.get(label) ?? { gained: 0n, lost: 0n, unsummableChanges: 0 };
    const [previous, current] = [toMicroTonnes(before), toMicroTonnes(after)];
    if (previous === null || current === null) movement.unsummableChanges += 1;
    else if (current > previous) movement.gained += current - previous;
    else movement.lost += previous - current;
    movements.set(label, movement);
  }

  /** Formats the summary of all changes so far: a line of counts, then a line for each list and credit type. */
  function formatLines(): string[] {
    const { added, changed, removed } = counts;
    const total = added + changed + removed;
    return [
      `${total} changes: ${added} added, ${changed} changed, ${removed} removed`,
      ...Array.from(movements, ([label, movement]) => `${label}: ${formatMovement(movement)}`),
    ];
  }

  return { addChange, formatLines };
}

/** Formats tonnes gained and lost, such as `+20 t, -5 t`, and the number of changes without an amount. */
function formatMovement({ gained, lost, unsummableChanges }: TonnageMovement): string {
  const remainder = unsummableChanges === 0 ? '' : `; ${unsummableChanges} without a usable amount`;
  return `+${formatTonnes(gained)} t, -${formatTonnes(lost)} t${remainder}`;
}

/** Returns the amount of a row in micro-tonnes. Returns 0 for a missing row, and null for an unusable amount. */
function toMicroTonnes(row: Change['before']): bigint | null {
  const micro = row === null ? 0 : row['amount_micro'];
  return typeof micro === 'number' || typeof micro === 'string' ? BigInt(micro) : null;
}
