import type { Reader } from '../store/contract/reader.js';
import { sumStanding } from './available.js';
import { ALL_CHANGES, readNewest } from './history/changes.js';
import { readActivity } from './inbox/activity.js';
import { type OrganizationStatus, readOrganizations, sumCertificates } from './status.js';
import { count, plain, sql } from './sql.js';
import { BY_OWNER, BY_PROJECT, exact, idsOf, ownersBy, sumWarehouses, type Total, TOTAL } from './sums.js';

/** So many are grouped. */
const CHANGES = 100;

export type Overview = Awaited<ReturnType<typeof readOverview>>;
type Sums = Awaited<ReturnType<typeof readSums>>;

/** What there is at one moment: what is reserved, what moved last, what does not go on, and how all organizations stand. */
export async function readOverview(reader: Reader, now: number, sumsIn: (snapshot: Reader) => Promise<Sums>) {
  return await reader.inSnapshot(async snapshot => ({
    activity: await readActivity(snapshot, now),
    reserved: await sumReservations(snapshot),
    changes: await readNewest(snapshot, ALL_CHANGES, null, CHANGES),
    ...(await sumsIn(snapshot)),
  }));
}

/** How all organizations stand, what is available, and so many of them, trouble first. */
export async function readSums(reader: Reader, most: number, mostLeftOut: number) {
  return await reader.inSnapshot(async snapshot => {
    const warehouseCounts = await sumStanding(snapshot, mostLeftOut);
    const organizations = await readOrganizations(snapshot, most);
    const shown = organizations.filter(({ resources }) => resources.some(isAvailable));
    return {
      organizations,
      /** Of all organizations, by state. */
      certificates: await sumCertificates(snapshot),
      warehouseCounts,
      failing: await count(snapshot, FAILING),
      /** What is known of those that are left out. */
      unavailableSums:
        warehouseCounts.unavailable.readCount === 0
          ? []
          : await sumWarehouses(snapshot, ownersBy('<>'), ['type']),
      availableByProject: await sumWarehouses(snapshot, ownersBy('='), BY_PROJECT),
      /** What is available of these organizations. */
      availableByOwner: await sumWarehouses(snapshot, sql`${idsOf(shown)}`, BY_OWNER),
    };
  });
}

/** Lists whose last read broke, was refused although it is permitted, or is not believed yet. */
const FAILING = plain(`mirror.freshness WHERE (failing_since IS NOT NULL OR reason = 'removals_unconfirmed')
  AND state <> 'not_offered' AND coalesce(reason, '') NOT IN ('uninstalled', 'suspended')`);

function isAvailable({ resource, state }: OrganizationStatus['resources'][number]): boolean {
  return resource === 'warehouse' && state === 'fresh';
}

interface Reserved extends Total {
  readonly type: string | null;
  readonly first_ends_at: string | null;
}

/** What is reserved now, of each type: how much, in how many rows, and when the first of them ends. */
async function sumReservations({ all }: Reader) {
  const rows = await all(sql<Reserved>`SELECT type, ${TOTAL},
      min(reserved_to_at) AS first_ends_at
    FROM mirror.reservations_now WHERE state_now = 'outstanding' GROUP BY type`);
  return rows.map(exact);
}
