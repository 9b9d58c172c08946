import type { FindingCount, Findings } from '../../query/past/findings.js';
import { since } from '../../text/stretch.js';

/** What of them was found, in words; null where nothing was. */
export function describeCounts(counts: readonly FindingCount[]): string | null {
  const found = counts.filter(({ rows }) => rows > 0);
  return found.length === 0 ? null : found.map(({ finding, rows }) => `${rows} ${finding}`).join(', ');
}

export const ON_FINDINGS =
  'See "carbon-mirror balance", "carbon-mirror changes --restated YEAR" and the view "credit_findings".';

export function describeFindings({ countedAt, counts }: Findings, now: number): string {
  if (countedAt === null) return 'Findings were never counted: a worker does so every five minutes.';
  return `Findings, counted ${since(countedAt, now)} ago: ${describeCounts(counts) ?? 'none'}.`;
}
