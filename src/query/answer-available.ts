import type { Reader } from '../store/contract/reader.js';
import type { Answer, Totals } from './answer/answer.js';
import { streamOf } from './answer/rows.js';
import { totalsOfSums } from './answer/totals.js';
import {
  type AvailableCredits,
  type AvailableRequest,
  type ExcludedWarehouse,
  findAvailableCaveats,
  readAvailable,
  type Warehouse,
} from './available.js';
import type { FreshnessSum } from './freshness/read.js';

export interface AvailableAnswer extends Answer<AvailableCredits['rows'][number]> {
  readonly totals: Totals;
  /** The warehouses of which nothing is available now, with their last known amounts. */
  readonly leftOut: readonly ExcludedWarehouse[];
  /** Organizations that removed the app. They are not among the known ones. */
  readonly uninstalled: number;
}

/** Answers which credits buyers can reserve now. Its coverage counts the organizations whose warehouse is fresh. */
export async function answerAvailable(reader: Reader, request: AvailableRequest): Promise<AvailableAnswer> {
  const { rows, known, uninstalled, warehouses, leftOut } = await readAvailable(reader, request);
  const sums = rows.map(row => ({ ...row, amount_micro: BigInt(row.amount_micro ?? 0) }));
  const totals = totalsOfSums(sums);
  const counted = warehouses.length;
  return {
    at: null,
    rows: streamOf(rows),
    totals,
    coverage: { counted, known, missing: known - counted },
    freshness: [false, true].flatMap(fails =>
      sumFreshWarehouses(warehouses.filter(warehouse => (warehouse.failing_since !== null) === fails)),
    ),
    gaps: [],
    caveats: findAvailableCaveats(totals, leftOut.length),
    leftOut,
    uninstalled,
  };
}

/** Summarizes fresh warehouses in one freshness entry. Returns an empty array if there are no warehouses. */
function sumFreshWarehouses(warehouses: readonly Warehouse[]): FreshnessSum[] {
  const readAt = warehouses.map(warehouse => warehouse.as_of ?? '').toSorted();
  const [oldestAt, newestAt] = [readAt[0], readAt.at(-1)];
  if (oldestAt === undefined || newestAt === undefined) return [];
  const failingSince = warehouses.flatMap(warehouse => warehouse.failing_since ?? []).toSorted();
  return [
    {
      state: 'fresh',
      reason: null,
      failing_since: failingSince.at(-1) ?? null,
      resources: warehouses.length,
      rows: warehouses.reduce((count, { rows }) => count + rows, 0),
      oldest_at: oldestAt,
      as_of: newestAt,
    },
  ];
}
