import type { Reader } from '../../store/contract/reader.js';
import { LIST_RESOURCES } from '../../resources/lists.js';

/** What one round of the schedule asks where nothing has changed. */
export type Round = NonNullable<Awaited<ReturnType<typeof readRound>>>;

const INSTALLATIONS_A_PAGE = 100;

/** As the last complete reads were: each organization's lists and its token, and the list of all of them. Null before the first. */
export async function readRound({ db }: Reader) {
  const origin = await db.selectFrom('origin').select('schedule_seconds').executeTakeFirst();
  const rows = await db
    .selectFrom('resource_states as r')
    .innerJoin('coverage as c', 'c.organization_id', 'r.organization_id')
    .where('c.state', '=', 'active')
    .where('r.resource', 'in', LIST_RESOURCES)
    .where('r.no_permission_at', 'is', null)
    .where('r.not_offered_at', 'is', null)
    .groupBy('r.every_seconds')
    .select(eb => [
      'r.every_seconds as everySeconds',
      eb.fn.sum<number | null>('r.requests').as('calls'),
      eb.fn.count<number>('r.organization_id').distinct().as('organizations'),
    ])
    .execute();
  const organizations = Math.max(0, ...rows.map(row => row.organizations));
  if (origin === undefined || organizations === 0) return null;
  const scheduleSeconds = origin.schedule_seconds;
  const partOf = (everySeconds: number | null) => Math.min(1, scheduleSeconds / (everySeconds ?? 1));
  const reads = rows.reduce((sum, { calls, everySeconds }) => sum + (calls ?? 0) * partOf(everySeconds), 0);
  const pages = Math.ceil(organizations / INSTALLATIONS_A_PAGE);
  return { calls: Math.ceil(reads) + organizations + pages, organizations, scheduleSeconds };
}
