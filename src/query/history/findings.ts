import type { Reader } from '../../store/contract/reader.js';
import type { Tables } from '../../store/contract/tables.js';
import { sql } from '../sql.js';

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

/** As a worker counted them last. */
export async function readFindings({ all }: Reader): Promise<Findings> {
  const rows = await all(sql<Tables['finding_counts']>`SELECT * FROM mirror.finding_counts ORDER BY finding`);
  const counts = rows.map(({ finding, rows: count }) => ({ finding, rows: count }));
  const oldest = rows.map(({ counted_at: at }) => at).toSorted()[0];
  return { countedAt: oldest ?? null, counts };
}

/** As they are at this moment: every row is looked at. */
export async function countFindings({ all }: Reader) {
  return await all(sql<FindingCount>`SELECT * FROM mirror.findings ORDER BY finding`);
}
