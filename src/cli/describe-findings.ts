import type { FindingCount, Findings } from '../query/history/findings.js';
import type { Trouble } from '../query/inbox/troubles.js';
import { formatAge } from '../text/duration.js';

/** Returns the advice on a problem, such as `Start a worker. See "carbon-mirror status".` */
export function describeRemedy({ todo, command }: Trouble): string {
  return command === null ? todo : `${todo} See "${command}".`;
}

/** Formats the number of suspicious rows of each kind (a finding), such as `overdrawn: 2`. Returns null if there are none. */
export function describeFindingCounts(counts: readonly FindingCount[]): string | null {
  const found = counts.filter(({ rows }) => rows > 0);
  return found.length === 0 ? null : found.map(({ finding, rows }) => `${finding}: ${rows}`).join(', ');
}

/** Where to look after findings were reported. */
export const FINDINGS_ADVICE =
  'See "carbon-mirror balance", "carbon-mirror restatements list" and the view "credit_findings".';

/**
 * Returns a sentence with the number of suspicious rows of each kind, and how long ago they were counted. Says so if they were never
 * counted.
 */
export function describeFindings({ countedAt, counts }: Findings, now: number): string {
  if (countedAt === null)
    return 'Findings have not been counted yet. A worker counts them every five minutes.';
  const found = describeFindingCounts(counts);
  const advice = found === null ? '' : ` ${FINDINGS_ADVICE}`;
  return `Findings, counted ${formatAge(countedAt, now)} ago: ${found ?? 'none'}.${advice}`;
}
