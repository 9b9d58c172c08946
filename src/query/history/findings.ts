import type { Reader } from '../../store/contract/reader.js';
import type { Tables } from '../../store/contract/tables.js';
import { queryBuilder } from '../../store/sql/builder.js';

export type FindingCount = Tables['findings'];

/** The kinds of findings that need only the current rows, and those that need all older versions of credits. */
export const FINDINGS = {
  current: [
    'negative_amount',
    'serialization_twice',
    'reservation_outlived',
    'balance_retirements',
    'restatements',
  ],
  historical: ['listed_and_retired', 'balance_credits'],
} as const;

export interface Findings {
  /** When a worker last counted the kind that was counted longest ago; null before the first time. */
  readonly countedAt: string | null;
  readonly counts: readonly FindingCount[];
}

/** Reads how many rows of each kind of finding (doubtful data, such as a negative amount) a worker counted last, and when. */
export async function readFindingCounts({ all }: Reader): Promise<Findings> {
  const rows = await all(
    queryBuilder
      .selectFrom('mirror.finding_counts')
      .select(['finding', 'rows', 'counted_at'])
      .orderBy('finding'),
  );
  const counts = rows.map(({ finding, rows: count }) => ({ finding, rows: count }));
  const oldest = rows.map(({ counted_at: at }) => at).toSorted()[0];
  return { countedAt: oldest ?? null, counts };
}

/** Counts the findings now, which reads every row of the lists. */
export async function countFindings({ all }: Reader): Promise<FindingCount[]> {
  return await all(queryBuilder.selectFrom('mirror.findings').select(['finding', 'rows']).orderBy('finding'));
}
