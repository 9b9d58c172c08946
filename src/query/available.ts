import type { Reader, Statement } from '../store/contract/reader.js';
import type { Tables } from '../store/contract/tables.js';
import { formatPlainTonnes } from '../text/tonnes.js';
import type { FreshnessStanding, FreshnessDetails } from './freshness/words.js';
import { type Condition, matches } from './lists/condition.js';
import { RANK } from './freshness/read.js';
import { BY_OWNER, BY_PROJECT, byOwner, idsOf, ownersBy, sumWarehouses } from './sums.js';
import { built, every, first, limit, ofOne, only, plain, sql } from './sql.js';

interface Demand {
  /** Null for all of them. */
  readonly organizationId: string | null;
  /** Restricts the credits, by filters of the list of warehouses. */
  readonly where?: readonly Condition[];
}

/** The warehouse of an organization that is known, and how far it can be trusted. */
export type Warehouse = FreshnessDetails &
  Omit<Tables['coverage'], 'state'> &
  Pick<Tables['freshness'], 'as_of' | 'age_seconds' | 'rows'>;

export type AvailableCredits = Awaited<ReturnType<typeof readAvailable>>;
/** A warehouse of which nothing is available now, and why. */
export type ExcludedWarehouse = AvailableCredits['leftOut'][number];
export type WarehouseCounts = Awaited<ReturnType<typeof sumStanding>>;

/** Of these nothing is expected: they are shown only where something is known. */
const CLOSED = ['no_access', 'not_offered'];

/** What is available now, and what is known and is not. Each warehouse is in one of both or empty. */
export async function readAvailable(reader: Reader, demand: Demand) {
  return await reader.inSnapshot(async snapshot => {
    const standing = await readStanding(snapshot, demand.organizationId);
    const { where = [] } = demand;
    const part = partOf(where);
    const rows = await readRows(snapshot, idsOf(standing.warehouses), part);
    const left = await sumWarehouses(snapshot, sql`${idsOf(standing.leftOut)}`, BY_OWNER, part);
    const sumsOf = byOwner(left);
    /** What is left out of what was asked for, with tonnes of each type, to look at. */
    const leftOut = standing.leftOut.map(each => {
      const sums = sumsOf(each).toReversed();
      const amounts = sums.map(({ type, ...sum }) => {
        const isKnown = sum.rows > sum.rows_without_amount;
        const amount = isKnown ? Number(formatPlainTonnes(sum.amount_micro)) : null;
        return { type, amount, rowsWithoutAmount: sum.rows_without_amount };
      });
      return {
        ...each,
        rows: where.length > 0 ? sums.reduce((all, sum) => all + sum.rows, 0) : each.rows,
        amounts,
      };
    });
    return { ...standing, rows, leftOut };
  });
}

/** The credits of one organization or one project, or of all. */
export interface CreditScope {
  readonly organizationId?: string | null;
  readonly projectId?: string | null;
}

/** What is available, by project and vintage; and each warehouse that holds some and is not fresh, the worst first. */
export async function readAvailability(
  reader: Reader,
  { organizationId = null, projectId = null }: CreditScope,
) {
  const part = projectId === null ? sql`1 = 1` : sql`project_id = ${projectId}`;
  return await reader.inSnapshot(async snapshot => {
    const left = await sumWarehouses(snapshot, ownersBy('<>', organizationId), BY_OWNER, part);
    const sumsOf = byOwner(left);
    const warehouses =
      await snapshot.all(sql<Unavailable>`SELECT f.organization_id, o.full_name AS organization_name,
        f.state, f.reason, f.failing_since
      FROM mirror.freshness AS f LEFT JOIN mirror.organizations AS o ON o.id = f.organization_id
      WHERE f.resource = 'warehouse' AND f.organization_id IN ${[...new Set(idsOf(left))]}
      ORDER BY ${RANK} DESC, organization_name NULLS FIRST, f.organization_id`);
    return {
      rows: await sumWarehouses(snapshot, ownersBy('=', organizationId), BY_PROJECT, part),
      unavailable: warehouses.map(each => ({ ...each, sums: sumsOf(each) })),
    };
  });
}

export type Availability = Awaited<ReturnType<typeof readAvailability>>;

type Unavailable = FreshnessStanding &
  Pick<Tables['freshness'], 'organization_id'> &
  Pick<Tables['coverage'], 'organization_name'>;

/** Of which warehouses something is available, and of which not. */
async function readStanding(reader: Reader, organizationId: string | null) {
  const all = await reader.all(
    sql`SELECT ${WAREHOUSE} FROM ${warehousesOf(organizationId)} ORDER BY ${BY_NAME}`,
  );
  const warehouses = all.filter(({ state }) => state === 'fresh');
  const available = new Set(warehouses);
  const uninstalled = all.filter(({ reason }) => reason === 'uninstalled').length;
  return {
    /** Of how many organizations this is all that can be said; those that have removed the app are apart. */
    known: all.length - uninstalled,
    uninstalled,
    /** Those of which something is available, the empty ones too. */
    warehouses,
    leftOut: all.filter(each => !available.has(each) && (each.rows > 0 || !CLOSED.includes(each.state))),
  };
}

/**
 * Returns SQL for the warehouse of each known organization. Freshness is computed first: PostgreSQL expects so much work of it that
 * all ways to join it look alike, and it may compare each organization with each other one.
 */
function warehousesOf(organizationId: string | null): Statement {
  return sql`(WITH f AS MATERIALIZED (
      SELECT organization_id, state, reason, failing_since, as_of, age_seconds, rows, error, oldest_unread_at, worker_seen_at
      FROM mirror.freshness WHERE resource = 'warehouse' AND ${ofOne(organizationId)})
    SELECT c.organization_id, c.installation_id, c.organization_name,
      CASE c.state WHEN 'active' THEN coalesce(f.state, 'never_read')
        WHEN 'never_read' THEN 'never_read' ELSE 'no_access' END AS state,
      CASE c.state WHEN 'active' THEN CASE WHEN f.state IS NULL THEN 'waiting' ELSE f.reason END
        WHEN 'never_read' THEN 'waiting' ELSE c.state END AS reason,
      CASE WHEN c.state <> 'never_read' THEN f.failing_since END AS failing_since,
      f.as_of, f.age_seconds, coalesce(f.rows, 0) AS rows, f.error, f.oldest_unread_at, f.worker_seen_at
    FROM mirror.coverage AS c
      LEFT JOIN f ON f.organization_id = c.organization_id
    WHERE ${ofOne(organizationId, 'c')}) AS w`;
}

const WAREHOUSE = plain<Warehouse>(`organization_id, installation_id, organization_name, state, reason,
  failing_since, as_of, age_seconds, rows, error, oldest_unread_at, worker_seen_at`);
const BY_NAME = plain('organization_name NULLS FIRST, organization_id NULLS FIRST, installation_id');
const IS_LEFT_OUT = sql`state <> 'fresh' AND (rows > 0 OR state NOT IN ${CLOSED})`;

/** How many warehouses stand how, and the worst of those that are left out, as many as are asked for. */
export async function sumStanding(reader: Reader, most: number) {
  const all = warehousesOf(null);
  const counts = sql<Counts>`SELECT count(*) FILTER (WHERE coalesce(reason, '') <> 'uninstalled') AS known,
      count(*) FILTER (WHERE reason = 'uninstalled') AS uninstalled,
      count(*) FILTER (WHERE state = 'fresh') AS available,
      count(failing_since) FILTER (WHERE state = 'fresh') AS failing,
      min(as_of) FILTER (WHERE state = 'fresh') AS oldest_at,
      count(*) FILTER (WHERE ${IS_LEFT_OUT}) AS left_out,
      count(as_of) FILTER (WHERE ${IS_LEFT_OUT}) AS left_out_known
    FROM ${all}`;
  const worst = sql`SELECT ${WAREHOUSE} FROM ${all} WHERE ${IS_LEFT_OUT}
    ORDER BY ${RANK} DESC, rows DESC, ${BY_NAME} ${limit(most)}`;
  const { left_out: count, left_out_known: readCount, ...sums } = await only(reader, counts);
  return {
    ...sums,
    unavailable: { count, readCount: readCount, worst: count === 0 ? [] : await reader.all(worst) },
  };
}

interface Counts {
  readonly known: number;
  readonly uninstalled: number;
  /** Of how many something is available, the empty ones too. */
  readonly available: number;
  /** Of these, how many failed at the last read, and when the oldest was read. */
  readonly failing: number;
  readonly oldest_at: string | null;
  readonly left_out: number;
  /** Of these, how many have ever been read. */
  readonly left_out_known: number;
}

function partOf(where: readonly Condition[]): Statement {
  return every(where.map(condition => built(matches(condition))));
}

/** Tells whether any warehouse has held such a credit, as far as the mirror has seen. */
export async function wasEverHeld(reader: Reader, condition: Condition): Promise<boolean> {
  const held = sql`SELECT 1 FROM mirror.warehouse_credits_history WHERE ${built(matches(condition))} LIMIT 1`;
  return (await first(reader, held)) !== null;
}

async function readRows({ all }: Reader, owners: readonly string[], part: Statement) {
  return await all(sql<Tables['warehouse_sums']>`SELECT * FROM mirror.warehouse_sums
    WHERE organization_id IN ${owners} AND ${part}
    ORDER BY organization_name NULLS FIRST, organization_id, project_name NULLS FIRST, vintage NULLS FIRST,
      type NULLS FIRST, project_id NULLS FIRST, credit_id`);
}
