import type { Reader } from '../store/contract/reader.js';
import { readAvailable } from './available.js';
import { readActivity } from './inbox/health.js';
import { ALL_CHANGES, readNewest } from './history/changes.js';
import { inSnapshot } from './snapshot.js';
import { readOrganizations, sumCertificates } from './reads/status.js';

/** One more is read, so that it can be said that there are more. */
export const MOST_RESERVATIONS = 20;
/** So many are grouped. */
const CHANGES = 100;

export type Overview = Awaited<ReturnType<typeof readOverview>>;

/** What there is at one moment: what is available, what is reserved, what moved last, what does not go on, and so many organizations. */
export async function readOverview(reader: Reader, now: number, most: number) {
  return await inSnapshot(reader, async snapshot => ({
    activity: await readActivity(snapshot, now),
    /** The first of them, trouble first. */
    organizations: await readOrganizations(snapshot, most),
    /** Of all organizations, by state. */
    certificates: await sumCertificates(snapshot),
    available: await readAvailable(snapshot, { organizationId: null, maxAgeSeconds: null, isToAddUp: true }),
    reservations: await readReservations(snapshot),
    changes: await readNewest(snapshot, ALL_CHANGES, null, CHANGES),
  }));
}

/** Reservations that stand, the one that ends first at the top. */
async function readReservations({ db }: Reader) {
  return await db
    .selectFrom('reservations_now as r')
    .leftJoin('organizations as o', 'o.id', 'r.organization_id')
    .where('r.state_now', '=', 'outstanding')
    .select([
      'r.id',
      'r.organization_id',
      'o.full_name as organization_name',
      'r.project_id',
      'r.project_name',
      'r.amount_exact',
      'r.amount_micro',
      'r.type',
      'r.reserver_name',
      'r.reserved_to_at',
    ])
    .orderBy('r.reserved_to_at')
    .orderBy('r.organization_id')
    .orderBy('r.id')
    .limit(MOST_RESERVATIONS + 1)
    .execute();
}
