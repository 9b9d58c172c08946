/** Reads the states of lists from the view `freshness`. */
import { type Expression, type RawBuilder, sql, type SqlBool } from 'kysely';
import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { queryBuilder } from '../../store/sql/builder.js';
import { findOwnerColumn } from '../../resources/entry.js';
import { LISTS } from '../../resources/lists.js';
import { buildOrganizationCondition } from '../read-one.js';
import { colourOf, FRESHNESS, type FreshnessStanding, rankOf, STANDINGS } from './describe-freshness.js';

const RANKS = STANDINGS.map(({ state, reason, failing_since: failingSince }) => {
  const hasReason = reason === null ? sql`reason IS NULL` : sql`reason = ${sql.lit(reason)}`;
  const hasFailed = failingSince === null ? sql`1 = 1` : sql`failing_since IS NOT NULL`;
  const rank = rankOf({ state, reason, failing_since: failingSince });
  return sql`WHEN state = ${sql.lit(state)} AND ${hasReason} AND ${hasFailed} THEN ${sql.lit(rank)}`;
});
/** The rank of a row of the view, as `rankOf` computes it. States with a failed read come first, because they match both. */
export const RANK: RawBuilder<number> = sql`CASE ${sql.join(RANKS.toReversed(), sql` `)} END`;

/** Lists in the same state, counted over organizations. */
export type FreshnessSum = Awaited<ReturnType<typeof sumFreshness>>[number];

/** Counts the organizations by the state of their list, and adds up the rows. A null id counts all known organizations. */
export async function sumFreshness({ all }: Reader, resource: string, organizationId: string | null) {
  return await all(
    queryBuilder
      .selectFrom('mirror.freshness')
      .select(eb => [
        'state',
        'reason',
        eb.fn.max('failing_since').as('failing_since'),
        eb.fn.countAll<number>().as('resources'),
        eb.fn.sum<number>('rows').as('rows'),
        /** When the oldest and the newest of the lists was last read completely. */
        eb.fn.min('as_of').as('oldest_at'),
        eb.fn.max('as_of').as('as_of'),
      ])
      .where('resource', 'in', [resource, '*'])
      .where(buildOrganizationCondition(organizationId))
      .groupBy(['state', 'reason', sql`failing_since IS NOT NULL`])
      .orderBy('state')
      .orderBy('reason', order => order.asc().nullsFirst())
      .orderBy('failing_since', order => order.asc().nullsFirst()),
  );
}

/**
 * For each state, counts the lists in this state, and how many of them failed at their last read. `age_seconds` is the longest time since
 * the last complete read of a list in this state.
 */
export async function readListStateCounts({ all }: Reader) {
  const ages = await all(
    queryBuilder
      .selectFrom('mirror.freshness')
      .select(eb => [
        'state',
        'reason',
        eb.fn.countAll<number>().as('resources'),
        eb.fn.count<number>('failing_since').as('failing'),
        /** Null if none of the lists was read completely. */
        eb.fn.max<number | null>('age_seconds').as('age_seconds'),
      ])
      .groupBy(['state', 'reason']),
  );
  return FRESHNESS.map(({ state, reason }) => {
    const age = ages.find(each => each.state === state && each.reason === reason);
    return age ?? { state, reason, resources: 0, failing: 0, age_seconds: null };
  });
}

/** How fresh the rows of a list are. */
export interface ListFreshness {
  readonly areAllFresh: boolean;
  /** The organizations whose list is fresh, whether its last read failed or not. */
  readonly fresh: readonly string[];
  /** Returns the state of the list that a row is in; null if the list is unknown. */
  readonly standingOf: (row: Readonly<Record<string, unknown>>) => FreshnessStanding | null;
}

/** Columns that programs get beside those of a row. */
export const FRESHNESS_COLUMNS = ['freshness', 'failing_since'] as const;

/** Adds the state of its list to each row, as the columns of `FRESHNESS_COLUMNS`. */
export async function* withFreshness(
  rows: AsyncIterable<Row> | Iterable<Row>,
  states: ListFreshness,
): AsyncGenerator<Row> {
  for await (const row of rows) yield { ...row, ...freshnessOf(row, states) };
}

/**
 * Returns the state of the list that contains a row, as the columns of `FRESHNESS_COLUMNS`. The state is null if the list is
 * unknown.
 */
export function freshnessOf(row: Row, { standingOf }: ListFreshness): Row {
  const { state = null, failing_since: since = null } = standingOf(row) ?? {};
  return { freshness: state, failing_since: since };
}

/**
 * Returns the column with the organization in rows of a resource. Null if the resource is no list that is read from the
 * registry.
 */
function findOwnerColumnOf(resource: string | null): string | null {
  const [, entry] = Object.entries(LISTS).find(([name]) => name === resource) ?? [];
  return entry === undefined ? null : findOwnerColumn(entry);
}

/** Reads how fresh a list is for one organization, or for all. Returns null for lists that are not read from the registry. */
export async function readStates(
  reader: Reader,
  resource: string | null,
  organizationId: string | null,
): Promise<ListFreshness | null> {
  return await readStatesWhere(reader, resource, buildOrganizationCondition(organizationId));
}

/**
 * Reads how fresh the lists are that contain these rows. Lists of other organizations are not read. Returns null for lists that are not
 * read from the registry.
 */
export async function readStatesOfRows(
  reader: Reader,
  resource: string | null,
  rows: readonly Row[],
): Promise<ListFreshness | null> {
  const owner = findOwnerColumnOf(resource);
  if (owner === null) return null;
  const organizationIds = [...new Set(rows.map(row => String(row[owner])))];
  return await readStatesWhere(reader, resource, sql`organization_id IN ${organizationIds}`);
}

/**
 * Reads how fresh the lists of a resource are, for the organizations that meet a condition. Returns null for lists that are not read from
 * the registry.
 */
async function readStatesWhere(
  { all }: Reader,
  resource: string | null,
  condition: Expression<SqlBool>,
): Promise<ListFreshness | null> {
  const owner = findOwnerColumnOf(resource);
  if (owner === null) return null;
  const rows = await all(
    queryBuilder
      .selectFrom('mirror.freshness')
      .select(['organization_id', 'state', 'reason', 'failing_since'])
      .where('resource', '=', resource)
      .where(condition),
  );
  const states = new Map<unknown, FreshnessStanding>(rows.map(row => [row.organization_id, row]));
  return {
    fresh: rows.flatMap(each => (each.state === 'fresh' ? (each.organization_id ?? []) : [])),
    areAllFresh: rows.every(each => colourOf(each) === 'good'),
    standingOf: row => states.get(String(row[owner])) ?? null,
  };
}
