import type { Ended } from '../../../inbox/job.js';
import type { InboxPort } from '../../../inbox/port.js';
import type { Query } from '../open.js';
import type { Perform } from './perform.js';

export function createSettlements(
  query: Query,
  { call }: Perform,
): Pick<InboxPort, 'settle' | 'retryBuried'> {
  return {
    settle: async ended => {
      const ids = await call<(number | null)[]>('settle', { ends: ended.map(endOf) });
      return ids.map(id => id !== null);
    },
    retryBuried: async which => {
      const ids = which === 'all' ? await readBuried(query) : which;
      const jobs = await call<(number | null)[]>('settle', { ends: ids.map(id => ({ id, act: 'revive' })) });
      return ids.map((buried, place) => ({ buried, job: jobs[place] ?? null }));
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

async function readBuried(query: Query): Promise<number[]> {
  const rows = await query<{ id: number }>(
    "SELECT id FROM inbox.jobs WHERE state = 'buried' ORDER BY id DESC",
  );
  return rows.map(({ id }) => id);
}
