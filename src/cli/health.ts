import type { FindingCount, Findings } from '../query/history/findings.js';
import type { Trouble } from '../query/inbox/troubles.js';
import type { Round } from '../query/reads/round.js';
import { counted } from '../text/counted.js';
import { since, stretch } from '../text/stretch.js';
import { withThousands } from '../text/thousands.js';

/** What to do, and the command that shows more. */
export function describeTodo({ todo, command }: Trouble): string {
  return command === null ? todo : `${todo} See "${command}".`;
}

/** What of them was found, in words; null where nothing was. */
export function describeCounts(counts: readonly FindingCount[]): string | null {
  const found = counts.filter(({ rows }) => rows > 0);
  return found.length === 0 ? null : found.map(({ finding, rows }) => `${rows} ${finding}`).join(', ');
}

export const ON_FINDINGS =
  'See "carbon-mirror balance", "carbon-mirror changes --restated YEAR" and the view "credit_findings".';

export function describeFindings({ countedAt, counts }: Findings, now: number): string {
  if (countedAt === null) return 'Findings were not counted yet: a worker counts them every five minutes.';
  return `Findings, counted ${since(countedAt, now)} ago: ${describeCounts(counts) ?? 'none'}.`;
}

export function isTooLong({ calls, scheduleSeconds }: Round, rate: number): boolean {
  return calls / rate > scheduleSeconds;
}

/** How long a round of the schedule takes at so many calls a second; null where nobody says how many. */
export function describeRound(round: Round, rate: number | null): string {
  const { calls, organizations, scheduleSeconds } = round;
  const asked = `a round makes ${withThousands(calls)} calls for ${counted(organizations, 'organization')}`;
  if (rate === null) return asked;
  const isLong = isTooLong(round, rate) ? ', LONGER THAN THE SCHEDULE' : '';
  return `${asked}: ${stretch(calls / rate)} of ${stretch(scheduleSeconds)} at ${rate} calls a second${isLong}`;
}

export const ON_LONG_ROUNDS =
  'What a round does not reach is overdue, and in no sum: set a longer SYNC_SCHEDULE, a higher REGISTRY_REQUESTS_PER_SECOND if the registry allows it, or one more worker on PostgreSQL.';
