import { FOLDED_WITHIN_MS } from '../../../inbox/delivery.js';
import type { InboxPort } from '../../../inbox/port.js';
import { formatInstant } from '../../../resources/columns.js';
import type { Sqlite } from '../open.js';
import { statement } from '../statement.js';

type Asked = { installationId: string; event: string | null; begun: string; since: string; now: string };

/** By the index of arrival. */
const CAME = `
  SELECT EXISTS (SELECT 1 FROM deliveries
    WHERE installation_id = @installationId AND verdict = 'accepted'
      AND received_at BETWEEN @begun AND @now
      AND coalesce(last_duplicate_at, received_at) >= @since
      AND event IS coalesce(@event, event)) AS found`;

/** What is known of the deliveries that came. */
export function createArrivals(db: Sqlite, now: () => number): Pick<InboxPort, 'haveCome'> {
  const came = statement<Asked, { found: number }>(db, CAME);
  return {
    haveCome: async (installationId, questions) => {
      const at = formatInstant(now());
      return questions.map(({ since, event = null, isNew = false }) => {
        const begun = formatInstant(isNew ? since : since - FOLDED_WITHIN_MS);
        return came.get({ installationId, event, begun, since: formatInstant(since), now: at })?.found === 1;
      });
    },
  };
}
