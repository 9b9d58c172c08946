import type { Reader } from '../../store/contract/reader.js';
import type { Tables } from '../../store/contract/tables.js';
import { sql } from '../sql.js';

export type FindingCount = Tables['findings'];

export interface Findings {
  /** When a worker counted them last; null before the first time. */
  readonly countedAt: string | null;
  readonly counts: readonly FindingCount[];
}

/** As a worker counted them last. */
export async function readFindings({ all }: Reader): Promise<Findings> {
  const rows = await all(sql<Tables['finding_counts']>`SELECT * FROM mirror.finding_counts ORDER BY finding`);
  const counts = rows.map(({ finding, rows: count }) => ({ finding, rows: count }));
  return { countedAt: rows[0]?.counted_at ?? null, counts };
}

/** As they are at this moment: every row is looked at. */
export async function countFindings({ all }: Reader) {
  return await all(sql<FindingCount>`SELECT * FROM mirror.findings ORDER BY finding`);
}
