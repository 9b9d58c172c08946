import { type Expression, sql, type SqlBool } from 'kysely';
import type { Reader } from '../store/contract/reader.js';
import type { FreshnessReason, FreshnessState } from '../store/contract/states.js';
import { queryBuilder } from '../store/sql/builder.js';
import { formatPlainTonnes } from '../text/tonnes.js';
import {
  type CollectedAnswer,
  type Coverage,
  type Totals,
  findAmountCaveats,
  totalsOfSums,
  type Answer,
  streamOf,
} from './answer/answer.js';
import type { Caveat } from './answer/caveat.js';
import { countInstalled } from './coverage.js';
import { type Condition, buildCondition } from './lists/condition.js';
import { joinConditions } from './lists/relation.js';
import { type FreshnessSum, RANK } from './freshness/read-freshness.js';
import type { FreshnessStanding } from './freshness/describe-freshness.js';
import { buildOrganizationCondition, countRows, readFirst } from './read-one.js';
import {
  BY_OWNER,
  BY_PROJECT,
  type CreditSum,
  groupByOwner,
  organizationIdsOf,
  selectOwnersExcept,
  sumWarehouses,
} from './sums.js';

export interface AvailableRequest {
  /** Null for all organizations. */
  readonly organizationId: string | null;
  /** Restricts the credits, with filters of the list `warehouse`. */
  readonly where?: readonly Condition[];
}

type AvailableCredits = Awaited<ReturnType<typeof readAvailable>>;
/** A warehouse whose credits do not count as available because its data is not fresh, and the reason. */
export type ExcludedWarehouse = AvailableCredits['excluded'][number];

/** Nothing is expected of these warehouses. They are shown only if some of their credits are known. */
const CLOSED_STATES = ['no_access', 'not_offered'] as const;

/**
 * Reads the available credits (`rows`), the warehouses with fresh data (`warehouses`), and the warehouses that are left out because their
 * data is not fresh (`excluded`). `warehouses` also contains those that have no credit in `rows`.
 */
export async function readAvailable(reader: Reader, { organizationId, where = [] }: AvailableRequest) {
  return await reader.inSnapshot(async snapshot => {
    const { known, uninstalled, warehouses, excluded } = await readWarehouses(snapshot, organizationId);
    const condition = joinConditions(where.map(each => buildCondition(each)));
    const rows = await readCredits(snapshot, organizationIdsOf(warehouses), condition);
    const sums = await sumWarehouses(snapshot, organizationIdsOf(excluded), BY_OWNER, condition);
    const findSums = groupByOwner(sums);
    return {
      known,
      uninstalled,
      warehouses,
      rows,
      /** With the last known tonnes of each credit type. */
      excluded: excluded.map(warehouse => {
        const ownSums = findSums(warehouse).toReversed();
        const amounts = ownSums.map(({ type, ...sum }) => {
          const isKnown = sum.rows > sum.rows_without_amount;
          const amount = isKnown ? Number(formatPlainTonnes(sum.amount_micro)) : null;
          return { type, amount, rowsWithoutAmount: sum.rows_without_amount };
        });
        const rowCount =
          where.length > 0 ? ownSums.reduce((count, sum) => count + sum.rows, 0) : warehouse.rows;
        return { ...warehouse, rows: rowCount, amounts };
      }),
    };
  });
}

/** Selects the credits of one organization, of one project, or of all. */
export interface CreditScope {
  readonly organizationId?: string | null;
  readonly projectId?: string | null;
}

/** A warehouse that is not fresh, with the sums of its last known credits. */
interface UnavailableWarehouse extends FreshnessStanding {
  readonly organization_id: string | null;
  readonly organization_name: string | null;
  readonly sums: readonly CreditSum[];
}

export interface Availability extends CollectedAnswer<CreditSum> {
  /** The warehouses of which nothing is available now, the worst first. */
  readonly unavailable: readonly UnavailableWarehouse[];
}

/**
 * Adds up the available credits by project and vintage. The coverage of the answer counts the organizations whose warehouse is fresh; it is
 * null for a single organization.
 */
export async function readAvailability(
  reader: Reader,
  { organizationId = null, projectId = null }: CreditScope,
): Promise<Availability> {
  const condition: Expression<SqlBool> = projectId === null ? sql`1 = 1` : sql`project_id = ${projectId}`;
  return await reader.inSnapshot(async snapshot => {
    // Freshness is computed once: of all organizations it takes longer than the sums.
    const others = await snapshot.all(
      queryBuilder
        .selectFrom('mirror.freshness as list')
        .leftJoin('mirror.organizations as owner', 'owner.id', 'list.organization_id')
        .select([
          'list.organization_id',
          'owner.full_name as organization_name',
          'list.resource',
          'list.state',
          'list.reason',
          'list.failing_since',
        ])
        .where('list.resource', 'in', ['warehouse', '*'])
        .where('list.state', '<>', 'fresh')
        .where(buildOrganizationCondition(organizationId, 'list.organization_id'))
        .orderBy(RANK, 'desc')
        .orderBy('organization_name', order => order.asc().nullsFirst())
        .orderBy('list.organization_id'),
    );
    const otherIds = organizationIdsOf(others);
    const warehouseCount = await countRows(snapshot, selectOwnersExcept([], organizationId));
    const findSums = groupByOwner(
      otherIds.length === 0 ? [] : await sumWarehouses(snapshot, otherIds, BY_OWNER, condition),
    );
    const unavailable = others.map(({ resource: _, ...list }) => ({ ...list, sums: findSums(list) }));
    const counted = warehouseCount - others.filter(({ resource }) => resource !== '*').length;
    return {
      ...answerSums(
        await sumWarehouses(snapshot, selectOwnersExcept(otherIds, organizationId), BY_PROJECT, condition),
        unavailable.filter(({ state, sums }) => sums.length > 0 || !isClosed(state)).length,
      ),
      // A coverage of a single organization would say nothing: its warehouse is counted or not.
      coverage: organizationId === null ? toCoverage(counted, await countInstalled(snapshot)) : null,
      unavailable: unavailable.filter(({ sums }) => sums.length > 0),
    };
  });
}

/** Returns how many of the known organizations are counted and how many are missing. */
function toCoverage(counted: number, known: number): Coverage {
  return { counted, known, missing: known - counted };
}

/** Creates an answer from sums of available credits. `excludedCount` is the number of warehouses without fresh data. */
export function answerSums(rows: readonly CreditSum[], excludedCount: number) {
  const totals = totalsOfSums(rows.map(row => ({ ...row, type: row.type ?? null })));
  const caveats = findAvailableCaveats(totals, excludedCount);
  return { at: null, rows, totals, freshness: [], gaps: [], caveats };
}

/**
 * Returns the caveats of an answer about available credits. `excludedCount` is the number of warehouses that are not counted
 * because their data is not fresh.
 */
function findAvailableCaveats(totals: Totals, excludedCount: number): Caveat[] {
  return [
    ...(excludedCount === 0 ? [] : [{ code: 'left_out' as const, organizations: excludedCount }]),
    ...findAmountCaveats(totals),
  ];
}

/** Whether a warehouse in this state can no longer be read, or never could. */
function isClosed(state: string): boolean {
  return CLOSED_STATES.some(closed => closed === state);
}

/** Reads the warehouses whose credits are available, and those that are excluded because their data is not fresh. */
async function readWarehouses({ all }: Reader, organizationId: string | null) {
  const warehouses = await all(selectWarehouses(organizationId).orderBy(sql`${BY_NAME}`));
  const fresh = warehouses.filter(({ state }) => state === 'fresh');
  const uninstalled = warehouses.filter(({ reason }) => reason === 'uninstalled').length;
  return {
    /** How many organizations have the app. */
    known: warehouses.length - uninstalled,
    uninstalled,
    /** The warehouses whose credits are available, with the empty ones. */
    warehouses: fresh,
    excluded: warehouses.filter(({ state, rows }) => state !== 'fresh' && (rows > 0 || !isClosed(state))),
  };
}

/** The warehouse of a known organization, and how far it can be trusted. */
export type Warehouse = Awaited<ReturnType<typeof readWarehouses>>['warehouses'][number];

/**
 * Selects the warehouse of each known organization. The freshness of all lists is computed first, in a MATERIALIZED query. Otherwise
 * PostgreSQL may compare each organization with every other organization.
 */
function selectWarehouses(organizationId: string | null) {
  const freshness = queryBuilder
    .selectFrom('mirror.freshness')
    .select(['organization_id', 'state', 'reason', 'failing_since', 'as_of', 'age_seconds', 'rows', 'error'])
    .select(['oldest_unread_at', 'worker_seen_at'])
    .where('resource', '=', 'warehouse')
    .where(buildOrganizationCondition(organizationId));
  const warehouses = queryBuilder
    .with(
      cte => cte('f').materialized(),
      () => freshness,
    )
    .selectFrom('mirror.coverage as c')
    .leftJoin('f', 'f.organization_id', 'c.organization_id')
    .select(['c.organization_id', 'c.installation_id', 'c.organization_name'])
    .select([
      sql<FreshnessState>`CASE c.state WHEN 'active' THEN coalesce(f.state, 'never_read')
        WHEN 'never_read' THEN 'never_read' ELSE 'no_access' END`.as('state'),
      sql<FreshnessReason | null>`CASE c.state WHEN 'active' THEN CASE WHEN f.state IS NULL THEN 'waiting' ELSE f.reason END
        WHEN 'never_read' THEN 'waiting' ELSE c.state END`.as('reason'),
      sql<string | null>`CASE WHEN c.state <> 'never_read' THEN f.failing_since END`.as('failing_since'),
      sql<number>`coalesce(f.rows, 0)`.as('rows'),
    ])
    .select(['f.as_of', 'f.age_seconds', 'f.error', 'f.oldest_unread_at', 'f.worker_seen_at'])
    .where(buildOrganizationCondition(organizationId, 'c.organization_id'));
  return queryBuilder.selectFrom(warehouses.as('warehouse')).selectAll('warehouse');
}

const BY_NAME = sql`organization_name NULLS FIRST, organization_id NULLS FIRST, installation_id`;
const IS_LEFT_OUT = sql<boolean>`state <> 'fresh' AND (rows > 0 OR state NOT IN (${sql.join(CLOSED_STATES.map(state => sql.lit(state)))}))`;

/**
 * Counts the warehouses by state. Also reads up to `limit` warehouses whose credits are not available, those with the worst state first.
 */
export async function readWarehouseCounts(reader: Reader, limit: number) {
  const isLeftOut = sql<number>`CASE WHEN ${IS_LEFT_OUT} THEN 1 ELSE 0 END`;
  const groups = await reader.all(
    queryBuilder
      .selectFrom(selectWarehouses(null).as('warehouse'))
      .select(['state', 'reason', isLeftOut.as('is_left_out')])
      .select(eb => [
        eb.fn.max<string | null>('failing_since').as('failing_since'),
        eb.fn.countAll<number>().as('resources'),
        eb.fn.count<number>('as_of').as('read_count'),
        eb.fn.sum<number>('rows').as('rows'),
        eb.fn.min<string | null>('as_of').as('oldest_at'),
        eb.fn.max<string | null>('as_of').as('as_of'),
      ])
      .groupBy(['state', 'reason', isLeftOut, sql`failing_since IS NOT NULL`]),
  );
  const excluded = groups.filter(group => group.is_left_out === 1);
  const fresh = groups.filter(({ state }) => state === 'fresh');
  const worst = selectWarehouses(null)
    .where(IS_LEFT_OUT)
    .orderBy(RANK, 'desc')
    .orderBy('rows', 'desc')
    .orderBy(BY_NAME);
  const count = countWarehouses(excluded);
  return {
    known: countWarehouses(groups.filter(({ reason }) => reason !== 'uninstalled')),
    uninstalled: countWarehouses(groups.filter(({ reason }) => reason === 'uninstalled')),
    /** The warehouses whose credits are available, with the empty ones. */
    available: countWarehouses(fresh),
    /** How fresh they are. Those whose last read failed come last. */
    freshness: fresh
      .toSorted((one, other) => Number(one.failing_since !== null) - Number(other.failing_since !== null))
      .map(({ is_left_out: _leftOut, read_count: _readCount, ...sum }): FreshnessSum => sum),
    unavailable: {
      count,
      /** Excluded warehouses that were read completely at least once. */
      readCount: excluded.reduce((sum, { read_count: readCount }) => sum + readCount, 0),
      worst:
        count === 0 || limit === 0 ? [] : await reader.all(limit === Infinity ? worst : worst.limit(limit)),
    },
  };
}

/** Adds up how many warehouses are in some groups of equal state. */
function countWarehouses(groups: readonly { readonly resources: number }[]): number {
  return groups.reduce((sum, { resources }) => sum + resources, 0);
}

/** Whether any warehouse has ever had a credit that meets the condition, as far as the mirror has observed. */
export async function wasEverHeld(reader: Reader, condition: Condition): Promise<boolean> {
  const held = queryBuilder
    .selectFrom('mirror.warehouse_credits_history')
    .select('version')
    .where(buildCondition(condition));
  return (await readFirst(reader, held)) !== null;
}

/** Reads the credits that meet the condition `where`, from the warehouses of the given organizations. */
async function readCredits({ all }: Reader, organizationIds: readonly string[], where: Expression<SqlBool>) {
  const credits = queryBuilder
    .selectFrom('mirror.warehouse_sums')
    .selectAll()
    .where('organization_id', 'in', organizationIds)
    .where(where);
  const order = [
    'organization_name',
    'organization_id',
    'project_name',
    'vintage',
    'type',
    'project_id',
  ] as const;
  return await all(
    order
      .reduce((query, column) => query.orderBy(column, direction => direction.asc().nullsFirst()), credits)
      .orderBy('credit_id'),
  );
}

export interface AvailableAnswer extends Answer<AvailableCredits['rows'][number]> {
  readonly totals: Totals;
  /** The warehouses that are not counted because their data is not fresh, with their last known amounts. */
  readonly excluded: readonly ExcludedWarehouse[];
  /** Organizations that removed the app. They are not among the known ones. */
  readonly uninstalled: number;
}

/** Answers which credits buyers can reserve now. The coverage of the answer counts the organizations whose warehouse is fresh. */
export async function answerAvailable(reader: Reader, request: AvailableRequest): Promise<AvailableAnswer> {
  const { rows, known, uninstalled, warehouses, excluded } = await readAvailable(reader, request);
  const sums = rows.map(row => ({ ...row, amount_micro: BigInt(row.amount_micro ?? 0) }));
  const totals = totalsOfSums(sums);
  const counted = warehouses.length;
  return {
    at: null,
    rows: streamOf(rows),
    totals,
    coverage: { counted, known, missing: known - counted },
    freshness: [false, true].flatMap(fails =>
      sumFreshWarehouses(warehouses.filter(warehouse => (warehouse.failing_since !== null) === fails)),
    ),
    gaps: [],
    caveats: findAvailableCaveats(totals, excluded.length),
    excluded,
    uninstalled,
  };
}

/** Summarizes fresh warehouses in one freshness entry. Returns an empty array if there are no warehouses. */
function sumFreshWarehouses(warehouses: readonly Warehouse[]): FreshnessSum[] {
  const readAt = warehouses.map(warehouse => warehouse.as_of ?? '').toSorted();
  const [oldestAt, newestAt] = [readAt[0], readAt.at(-1)];
  if (oldestAt === undefined || newestAt === undefined) return [];
  const failingSince = warehouses.flatMap(warehouse => warehouse.failing_since ?? []).toSorted();
  return [
    {
      state: 'fresh',
      reason: null,
      failing_since: failingSince.at(-1) ?? null,
      resources: warehouses.length,
      rows: warehouses.reduce((count, { rows }) => count + rows, 0),
      oldest_at: oldestAt,
      as_of: newestAt,
    },
  ];
}
