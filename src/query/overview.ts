import type { Reader } from '../store/contract/reader.js';
import { queryBuilder } from '../store/sql/builder.js';
import type { CollectedAnswer, Coverage, Totals } from './answer/answer.js';
import { answerSums, readWarehouseCounts } from './available.js';
import { ALL_CHANGES, readNewest } from './history/changes.js';
import { readActivity } from './inbox/activity.js';
import { countRows } from './read-one.js';
import { FAILING_LISTS, type OrganizationStatus, readOrganizations, sumCertificates } from './status.js';
import {
  BY_OWNER,
  BY_PROJECT,
  type CreditSum,
  organizationIdsOf,
  selectOwnersByFreshness,
  sumWarehouses,
  toExactSum,
  TOTAL_COLUMNS,
} from './sums.js';

/** The page groups this many of the newest changes. */
const CHANGES = 100;

export type Overview = Awaited<ReturnType<typeof readOverview>>;
type FleetSums = Awaited<ReturnType<typeof readSums>>;

/**
 * Reads the data of the page "Now" in one snapshot: activity, reservations, the newest changes, and sums over all organizations. The caller
 * passes the function `readFleetSums`, which reads these sums or takes them from a cache.
 */
export async function readOverview(
  reader: Reader,
  now: number,
  readFleetSums: (snapshot: Reader) => Promise<FleetSums>,
) {
  return await reader.inSnapshot(async snapshot => ({
    activity: await readActivity(snapshot, now),
    reserved: await sumReservations(snapshot),
    changes: await readNewest(snapshot, ALL_CHANGES, null, CHANGES),
    ...(await readFleetSums(snapshot)),
  }));
}

/** The available credits of all organizations, added up by project. */
interface AvailableSums extends CollectedAnswer<CreditSum> {
  readonly totals: Totals;
  readonly coverage: Coverage;
}

/**
 * Reads sums over all organizations: available credits, certificates, and warehouses that are left out. Also reads some organizations,
 * those with the worst state first. Organizations and left-out warehouses have no notes: each row has a state instead.
 */
export async function readSums(reader: Reader, maxOrganizations: number, maxLeftOut: number) {
  return await reader.inSnapshot(async snapshot => {
    const { known, uninstalled, ...counts } = await readWarehouseCounts(snapshot, maxLeftOut);
    const { freshness, unavailable } = counts;
    const coverage = { counted: counts.available, known, missing: known - counts.available };
    const rows = await sumWarehouses(snapshot, selectOwnersByFreshness('fresh'), BY_PROJECT);
    const sums: AvailableSums = { ...answerSums(rows, unavailable.count), coverage, freshness };
    const organizations = await readOrganizations(snapshot, maxOrganizations);
    const available = organizations.filter(({ resources }) => resources.some(isAvailable));
    return {
      organizations,
      /** Counts by state, over all organizations. */
      certificates: await sumCertificates(snapshot),
      available: sums,
      /** Organizations that removed the app. They are not among the known ones. */
      uninstalled,
      failing: await countRows(snapshot, FAILING_LISTS),
      /** The warehouses that are left out, with their last known sums. */
      unavailable: {
        ...unavailable,
        sums:
          unavailable.readCount === 0
            ? []
            : await sumWarehouses(snapshot, selectOwnersByFreshness('not fresh'), ['type']),
      },
      /** The available sums of the organizations in `organizations`. */
      availableByOwner: await sumWarehouses(snapshot, organizationIdsOf(available), BY_OWNER),
    };
  });
}

/** Whether a list is a fresh warehouse, so that its credits are available. */
function isAvailable({ resource, state }: OrganizationStatus['resources'][number]): boolean {
  return resource === 'warehouse' && state === 'fresh';
}

/** Adds up the open reservations by credit type, and reads when the first of each type ends. */
async function sumReservations({ all }: Reader) {
  const rows = await all(
    queryBuilder
      .selectFrom('mirror.reservations_now')
      .select('type')
      .select(TOTAL_COLUMNS)
      .select(eb => eb.fn.min<string | null>('reserved_to_at').as('first_ends_at'))
      .where('state_now', '=', 'outstanding')
      .groupBy('type'),
  );
  return rows.map(toExactSum);
}
