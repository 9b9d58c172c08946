import {
  DELIVERY_PAGE_SIZE,
  type DeliveryRow,
  FOLD_WINDOW_MS,
  MAX_SEARCHED_DELIVERIES,
  type SignedText,
  toDeliveryPage,
} from '../../inbox/delivery.js';
import {
  findFirstAnsweredJobId,
  INSTALLATION_JOB,
  type JobCounts,
  type InstallationRef,
} from '../../inbox/job.js';
import type { InboxPort } from '../../inbox/port.js';
import { formatInstant } from '../../resources/sql-values.js';
import type { Table } from '../dialect.js';
import { fixed, statement } from '../statement.js';
import { type AtTime, type InboxDatabase, NOW } from './database.js';

type Looks = Pick<
  InboxPort,
  | 'countJobs'
  | 'listPendingInstallations'
  | 'listSignedTexts'
  | 'findNewestDelivery'
  | 'listAcceptedDeliveries'
  | 'haveDeliveriesArrived'
>;

/** Each state by its index. */
const openJobs = (columns: string): string =>
  ['waiting', 'running', 'paused', 'failed']
    .map(state => `SELECT ${columns} FROM inbox.jobs WHERE state = '${state}'`)
    .join(' UNION ALL ');

const COUNT = fixed<JobCounts>(
  `SELECT count(*) FILTER (WHERE state = 'waiting') AS waiting, count(*) FILTER (WHERE state = 'running') AS running,
     count(*) FILTER (WHERE state = 'paused') AS paused, count(*) FILTER (WHERE state = 'failed') AS failed,
     min(run_at) FILTER (WHERE state = 'waiting') AS "oldestRunAt"
   FROM (${openJobs('state, run_at')}) AS open_jobs`,
);
/** One that had failed before a sync that came to its end is answered. */
const TO_LOOK_AT = fixed<InstallationRef>(
  `SELECT installation_id AS id, max(organization_id) AS "organizationId"
   FROM (${openJobs('kind, state, installation_id, organization_id, started_at')}) AS j
   WHERE kind = '${INSTALLATION_JOB}' AND installation_id IS NOT NULL AND NOT EXISTS (
     SELECT 1 FROM inbox.jobs AS d
     WHERE j.state = 'failed' AND d.installation_id = j.installation_id AND d.kind = j.kind
       AND d.state = 'done' AND d.started_at > j.started_at)
   GROUP BY installation_id ORDER BY installation_id`,
);
const TEXTS = statement<{ above: number; limit: number }, SignedText>(
  `SELECT id, signed_data AS "signedData" FROM inbox.signed_texts
   WHERE id > @above AND signed_data <> '' ORDER BY id LIMIT @limit`,
);
const NEWEST = statement<{ installationId: string; from: number; to: number }, { readonly id: number }>(
  `SELECT id FROM inbox.deliveries
   WHERE id > (SELECT max(id) FROM inbox.deliveries) - ${MAX_SEARCHED_DELIVERIES}
     AND installation_id = @installationId AND verdict = 'accepted' AND job_id BETWEEN @from AND @to
   ORDER BY id DESC LIMIT 1`,
);
const cameBetween = (column: 'received_at' | 'unread_duplicate_at'): string =>
  `SELECT * FROM (
     SELECT id, installation_id AS "installationId", ${column} AS "receivedAt", verdict FROM inbox.deliveries
     WHERE ${column} >= @from AND ${column} <= @until AND (${column}, id) > (@from, @above)
     ORDER BY ${column}, id LIMIT ${DELIVERY_PAGE_SIZE}) AS by_${column}`;
/**
 * By the index of arrival alone, merged as they are read: one by installation would cost the receiver a fifth of what it
 * takes, and twice as many bytes in the log.
 */
const ANNOUNCED = statement<{ from: string; until: string; above: number }, DeliveryRow>(
  `${cameBetween('received_at')} UNION ALL ${cameBetween('unread_duplicate_at')}
   ORDER BY "receivedAt", id LIMIT ${DELIVERY_PAGE_SIZE}`,
);

const ARRIVAL = { place: 'int', begun: 'instant', since: 'instant', event: 'text' } as const;
/** By the index of arrival. */
const CAME = statement<AtTime & { installationId: string; asked: Table }, { readonly came: number }>(
  dialect =>
    `SELECT CASE WHEN EXISTS (SELECT 1 FROM inbox.deliveries AS d
       WHERE d.installation_id = @installationId AND d.verdict = 'accepted'
         AND d.received_at BETWEEN asked.begun AND ${NOW(dialect)}
         AND coalesce(d.last_duplicate_at, d.received_at) >= asked.since
         AND (asked.event IS NULL OR d.event = asked.event)) THEN 1 ELSE 0 END AS came
     FROM ${dialect.rows('@asked', 'asked', ARRIVAL)} ORDER BY asked.place`,
);

export function createLooks({ look, now }: InboxDatabase): Looks {
  return {
    countJobs: async () => {
      const [[counts]] = await look(COUNT);
      if (counts === undefined) throw new Error('expected counts of jobs, got none');
      return counts;
    },
    listPendingInstallations: async () => (await look(TO_LOOK_AT))[0],
    listSignedTexts: async (above, limit) => (await look(TEXTS({ above, limit })))[0],
    findNewestDelivery: async ({ id, installationId, trigger }) => {
      const from = findFirstAnsweredJobId({ id, trigger });
      if (installationId === null || from === null) return null;
      const [[newest]] = await look(NEWEST({ installationId, from, to: id }));
      return newest?.id ?? null;
    },
    haveDeliveriesArrived: async (installationId, questions) => {
      const rows = questions.map(({ since, event = null, isNew = false }, place) => {
        const begun = formatInstant(isNew ? since : since - FOLD_WINDOW_MS);
        return [place, begun, formatInstant(since), event];
      });
      const [answers] = await look(CAME({ installationId, asked: { columns: ARRIVAL, rows }, now: now() }));
      return answers.map(({ came }) => came === 1);
    },
    listAcceptedDeliveries: async ({ since: from, until, afterId: above }) =>
      toDeliveryPage((await look(ANNOUNCED({ from, until, above })))[0], until),
  };
}
