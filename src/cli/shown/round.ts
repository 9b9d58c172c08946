import type { Round } from '../../query/reads/round.js';
import { stretch } from '../../text/stretch.js';
import { withThousands } from '../../text/thousands.js';

export function isTooLong({ calls, scheduleSeconds }: Round, rate: number): boolean {
  return calls / rate > scheduleSeconds;
}

/** How long a round of the schedule takes at so many calls a second; null where nobody says how many. */
export function describeRound(round: Round, rate: number | null): string {
  const { calls, organizations, scheduleSeconds } = round;
  const asked = `a round asks ${withThousands(calls)} times for ${withThousands(organizations)} ${organizations === 1 ? 'organization' : 'organizations'}`;
  if (rate === null) return asked;
  const isLong = isTooLong(round, rate) ? ', LONGER THAN THE SCHEDULE' : '';
  return `${asked}: ${stretch(calls / rate)} of ${stretch(scheduleSeconds)} at ${rate} calls a second${isLong}`;
}

export const ON_LONG_ROUNDS =
  'What a round does not reach is late, and in no sum: set a longer SYNC_SCHEDULE, a higher REGISTRY_REQUESTS_PER_SECOND if the registry allows it, or one more worker on PostgreSQL.';
