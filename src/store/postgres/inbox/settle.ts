import type { Ended } from '../../../inbox/job.js';
import type { InboxPort } from '../../../inbox/port.js';
import { SOON_MS } from '../../../inbox/job.js';
import type { Query } from '../open.js';
import { CHANNEL } from './ask.js';
import { AT, ms, type Perform } from './perform.js';

export function createSettlements(
  query: Query,
  { call, perform }: Perform,
): Pick<InboxPort, 'settle' | 'retryFailed' | 'tryFirst'> {
  return {
    settle: async ended => {
      const ids = await call<(number | null)[]>('settle', { ends: ended.map(endOf) });
      return ids.map(id => id !== null);
    },
    retryFailed: async which => {
      const ids = which === 'all' ? await readFailed(query) : which;
      const jobs = await call<(number | null)[]>('settle', {
        ends: ids.map(id => ({ id, act: 'retry_failed' })),
      });
      return ids.map((failed, place) => ({ failed, job: jobs[place] ?? null }));
    },
    tryFirst: async codes => {
      const failed = await query<{ id: number }>(FAILED_FOR, [codes]);
      if (failed.length > 0)
        await call('settle', { ends: failed.map(({ id }) => ({ id, act: 'retry_failed' })) });
      return (await perform<{ count: number }>([TRY_FIRST], { codes, soon_ms: SOON_MS })).count;
    },
  };
}

function endOf({ held: { id, claim }, end }: Ended): Readonly<Record<string, unknown>> {
  return {
    id,
    claim,
    act: end.act,
    ...(end.act === 'done' && { outcome: end.outcome }),
    ...('inMs' in end && { in_ms: end.inMs }),
    ...('error' in end && { code: end.error.code, message: end.error.message }),
  };
}

async function readFailed(query: Query): Promise<number[]> {
  const rows = await query<{ id: number }>(
    "SELECT id FROM inbox.jobs WHERE state = 'failed' ORDER BY id DESC",
  );
  return rows.map(({ id }) => id);
}

const FAILED_FOR =
  "SELECT id FROM inbox.jobs WHERE state = 'failed' AND error_or_pause_code = ANY ($1::text[]) ORDER BY id";

const TRY_FIRST = `
  WITH failed AS MATERIALIZED (
    SELECT id FROM inbox.jobs
    WHERE state IN ('waiting', 'paused') AND NOT (attempts > 0 AND run_at <= created_at)
      AND (error_or_pause_code IN (SELECT jsonb_array_elements_text($1 -> 'codes'))
        OR (kind = 'retry' AND attempts = 0 AND run_at <= ${AT} + ${ms("($1 ->> 'soon_ms')::double precision")}))
    ORDER BY dedupe_key, id FOR UPDATE SKIP LOCKED
  ),
  first AS (
    UPDATE inbox.jobs SET state = 'waiting', attempts = 1, run_at = created_at WHERE id IN (SELECT id FROM failed) RETURNING id
  )
  SELECT jsonb_build_object('count', (SELECT count(*) FROM first), 'notified', pg_notify('${CHANNEL}', '')::text)`;
