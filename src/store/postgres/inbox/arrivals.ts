import { FOLDED_WITHIN_MS } from '../../../inbox/delivery.js';
import type { InboxPort } from '../../../inbox/port.js';
import { AT, type Perform } from './perform.js';

const HAVE_COME = `
  SELECT jsonb_build_object('have_come', coalesce(jsonb_agg(EXISTS (
    SELECT FROM inbox.deliveries
    WHERE installation_id = $1 ->> 'installation_id' AND verdict = 'accepted'
      AND received_at BETWEEN asked.begun AND ${AT}
      AND coalesce(last_duplicate_at, received_at) >= asked.since
      AND (asked.event IS NULL OR deliveries.event = asked.event)) ORDER BY place), '[]'))
  FROM ROWS FROM (jsonb_to_recordset($1 -> 'questions') AS (since timestamptz, begun timestamptz, event text))
    WITH ORDINALITY AS asked (since, begun, event, place)`;

/** What is known of the deliveries that came. */
export function createArrivals({ perform }: Perform): Pick<InboxPort, 'haveCome'> {
  return {
    haveCome: async (installationId, questions) => {
      const asked = questions.map(({ since, event = null, isNew = false }) => ({
        event,
        since: new Date(since).toISOString(),
        begun: new Date(isNew ? since : since - FOLDED_WITHIN_MS).toISOString(),
      }));
      const { have_come } = await perform<{ have_come: boolean[] }>([HAVE_COME], {
        installation_id: installationId,
        questions: asked,
      });
      return have_come;
    },
  };
}
