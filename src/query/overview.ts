import type { Reader } from '../store/contract/reader.js';
import { readAvailable } from './available.js';
import { readActivity } from './inbox/activity.js';
import { ALL_CHANGES, readNewest } from './history/changes.js';
import { inSnapshot } from './snapshot.js';
import { readOrganizations, sumCertificates } from './reads/status.js';

/** One more is read, so that it can be said that there are more. */
export const MOST_HOLDS = 20;
const CHANGES = 8;

export type Hold = Awaited<ReturnType<typeof readHolds>>[number];

export type Overview = Awaited<ReturnType<typeof readOverview>>;

/** What there is at one moment: what can be sold, what is held, what moved last, what does not go on, and so many organizations. */
export async function readOverview(reader: Reader, now: number, most: number) {
  return await inSnapshot(reader, async snapshot => ({
    activity: await readActivity(snapshot, now),
    /** The first of them, trouble first. */
    organizations: await readOrganizations(snapshot, most),
    /** Of all organizations, by state. */
    certificates: await sumCertificates(snapshot),
    available: await readAvailable(snapshot, { organizationId: null, maxAgeSeconds: null, isToAddUp: true }),
    holds: await readHolds(snapshot),
    changes: await readNewest(snapshot, ALL_CHANGES, null, CHANGES),
  }));
}

/** Credits that are held, those that are free again first first. */
async function readHolds({ db }: Reader) {
  return await db
    .selectFrom('reservations_now as h')
    .leftJoin('organizations as o', 'o.id', 'h.organization_id')
    .where('h.state_now', '=', 'outstanding')
    .select([
      'h.id',
      'h.organization_id',
      'o.full_name as organization_name',
      'h.project_id',
      'h.project_name',
      'h.amount_exact',
      'h.reserver_name',
      'h.reserved_to_at',
    ])
    .orderBy('h.reserved_to_at')
    .orderBy('h.organization_id')
    .orderBy('h.id')
    .limit(MOST_HOLDS + 1)
    .execute();
}
