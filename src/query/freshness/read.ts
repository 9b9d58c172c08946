import type { Reader, Statement } from '../../store/contract/reader.js';
import type { Row, Tables } from '../../store/contract/tables.js';
import { findOwnerColumn } from '../../resources/entry.js';
import { LISTS } from '../../resources/lists.js';
import { colourOf, FRESHNESS, rankOf, type FreshnessStanding, STANDINGS } from './words.js';
import { columns, ofOne, plain, sql } from '../sql.js';

type Fresh = Tables['freshness'];

/** Resources that stand alike, as one. */
export interface FreshnessSum extends Pick<Fresh, 'state' | 'reason' | 'failing_since' | 'rows' | 'as_of'> {
  readonly resources: number;
  readonly oldest_at: string | null;
}

const RANKS = STANDINGS.map(({ state, reason, ...each }) => {
  const why = reason === null ? 'reason IS NULL' : `reason = '${reason}'`;
  const fails = each.failing_since === null ? '' : ' AND failing_since IS NOT NULL';
  return `WHEN state = '${state}' AND ${why}${fails} THEN ${rankOf({ state, reason, ...each })}`;
});
/** How bad a row of the view is, as `rankOf` has it: the last of them is the first to be told apart. */
export const RANK = plain(`CASE ${RANKS.toReversed().join(' ')} END`);

/** How many organizations stand so with a resource, and when theirs was last read completely. Of one, or of all that are known; the states in the order of their names. */
export async function sumFreshness({ all }: Reader, resource: string, organizationId: string | null) {
  return await all(sql<FreshnessSum>`SELECT state, reason, max(failing_since) AS failing_since,
      count(*) AS resources, sum(rows) AS rows, min(as_of) AS oldest_at, max(as_of) AS as_of FROM mirror.freshness
    WHERE resource IN (${resource}, '*') AND ${ofOne(organizationId)}
    GROUP BY state, reason, failing_since IS NOT NULL ORDER BY state, reason NULLS FIRST, failing_since NULLS FIRST`);
}

interface Ages extends Pick<FreshnessStanding, 'state' | 'reason'> {
  readonly resources: number;
  readonly failing: number;
  readonly age_seconds: number | null;
}

/** How many resources stand in each way that there is, how many of them fail, and how old the oldest complete read of them is; null where none was complete. */
export async function readAges({ all }: Reader): Promise<Ages[]> {
  const found =
    await all(sql<Ages>`SELECT state, reason, count(*) AS resources, count(failing_since) AS failing,
      max(age_seconds) AS age_seconds
    FROM mirror.freshness GROUP BY state, reason`);
  return FRESHNESS.map(({ state, reason }) => {
    const ages = found.find(each => each.state === state && each.reason === reason);
    return ages ?? { state, reason, resources: 0, failing: 0, age_seconds: null };
  });
}

/** How fresh the rows of a list are. */
export interface ListFreshness {
  readonly areAllFresh: boolean;
  /** The organizations whose list is fresh, whether its last read failed or not. */
  readonly fresh: readonly string[];
  /** How the list stands that a row stands in; null where it is none that is known. */
  readonly standingOf: (row: Readonly<Record<string, unknown>>) => FreshnessStanding | null;
}

/** What a program is told of it beside a row, and a person in one word or a few. */
export const FRESHNESS_COLUMNS = ['freshness', 'failing_since'] as const;

export async function* withFreshness(
  rows: AsyncIterable<Row> | Iterable<Row>,
  states: ListFreshness,
): AsyncGenerator<Row> {
  for await (const row of rows) yield { ...row, ...freshnessOf(row, states) };
}

export function freshnessOf(row: Row, { standingOf }: ListFreshness): Row {
  const { state = null, failing_since: since = null } = standingOf(row) ?? {};
  return { freshness: state, failing_since: since };
}

/** Returns the column with the organization of a row; null if rows of the resource stand in no list that is read. */
function findOwner(resource: string | null): string | null {
  const [, entry] = Object.entries(LISTS).find(([name]) => name === resource) ?? [];
  return entry === undefined ? null : findOwnerColumn(entry);
}

/** Of one organization, or of all of them; null where rows stand in no list that is read. */
export async function readStates(
  reader: Reader,
  resource: string | null,
  organizationId: string | null,
): Promise<ListFreshness | null> {
  return await readStatesOf(reader, resource, ofOne(organizationId));
}

/** Reads how fresh the lists are in which these rows stand. The lists of other organizations are not read. */
export async function readStatesOfRows(
  reader: Reader,
  resource: string | null,
  rows: readonly Row[],
): Promise<ListFreshness | null> {
  const owner = findOwner(resource);
  if (owner === null) return null;
  const organizationIds = [...new Set(rows.map(row => String(row[owner])))];
  return await readStatesOf(reader, resource, sql`organization_id IN ${organizationIds}`);
}

async function readStatesOf(
  { all }: Reader,
  resource: string | null,
  where: Statement,
): Promise<ListFreshness | null> {
  const owner = findOwner(resource);
  if (owner === null) return null;
  const wanted = columns('freshness', ['organization_id', 'state', 'reason', 'failing_since']);
  const rows = await all(sql`SELECT ${wanted} FROM mirror.freshness
    WHERE resource = ${resource} AND ${where}`);
  const states = new Map<unknown, FreshnessStanding>(rows.map(row => [row.organization_id, row]));
  return {
    fresh: rows.flatMap(each => (each.state === 'fresh' ? (each.organization_id ?? []) : [])),
    areAllFresh: rows.every(each => colourOf(each) === 'good'),
    standingOf: row => states.get(String(row[owner])) ?? null,
  };
}
