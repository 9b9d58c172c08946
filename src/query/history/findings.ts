import type { Reader } from '../../store/contract/reader.js';

export interface Findings {
  /** When a worker counted them last; null before the first time. */
  readonly countedAt: string | null;
  readonly counts: readonly FindingCount[];
}

export interface FindingCount {
  readonly finding: string;
  readonly rows: number;
}

/** As a worker counted them last. */
export async function readFindings({ db }: Reader): Promise<Findings> {
  const rows = await db.selectFrom('finding_counts').selectAll().orderBy('finding').execute();
  const counts = rows.map(({ finding, rows: count }) => ({ finding, rows: count }));
  return { countedAt: rows[0]?.counted_at ?? null, counts };
}

/** As they are at this moment: every row is looked at. */
export async function countFindings({ db }: Reader): Promise<FindingCount[]> {
  return await db.selectFrom('findings').select(['finding', 'rows']).orderBy('finding').execute();
}
