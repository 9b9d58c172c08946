import { type Arrival, FOLDED_WITHIN_MS, LATEST_DELIVERIES } from '../../../inbox/delivery.js';
import { answersFrom, type ClaimedJob } from '../../../inbox/job.js';
import type { Sqlite } from '../open.js';
import { statement } from '../statement.js';
import { toInstant } from './text.js';

type Asked = { installationId: string; event: string | null; begun: string; since: string; now: string };

const CAME = `
  SELECT EXISTS (SELECT 1 FROM deliveries
    WHERE installation_id = @installationId AND verdict = 'accepted'
      AND received_at BETWEEN @begun AND @now
      AND coalesce(last_received_at, received_at) >= @since
      AND event IS coalesce(@event, event)) AS found`;

/** Whether an accepted delivery for the installation came; none of the future. By the index of arrival. */
export function createHasCome(
  db: Sqlite,
): (installationId: string, arrival: Arrival, now: number) => boolean {
  const came = statement<Asked, { found: number }>(db, CAME);
  return (installationId, { since, event = null, isNew = false }, now) => {
    const asked = {
      installationId,
      event,
      begun: toInstant(isNew ? since : since - FOLDED_WITHIN_MS),
      since: toInstant(since),
      now: toInstant(now),
    };
    return came.get(asked)?.found === 1;
  };
}

const NEWEST = `
  SELECT id FROM deliveries
  WHERE id > (SELECT max(id) FROM deliveries) - ${LATEST_DELIVERIES}
    AND installation_id = @installationId AND verdict = 'accepted' AND job_id BETWEEN @from AND @to
  ORDER BY id DESC LIMIT 1`;

/** The newest delivery that a job answers; null where none asked for it, or none of the latest thousands. */
export function createNewestDelivery(
  db: Sqlite,
): (job: Pick<ClaimedJob, 'id' | 'installationId' | 'trigger'>) => number | null {
  const newest = statement<{ installationId: string; from: number; to: number }, { id: number }>(db, NEWEST);
  return ({ id, installationId, trigger }) => {
    const from = answersFrom({ id, trigger });
    if (installationId === null || from === null) return null;
    return newest.get({ installationId, from, to: id })?.id ?? null;
  };
}
