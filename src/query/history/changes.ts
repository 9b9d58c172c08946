/** Reads the numbered changes of rows. */
import { type Expression, sql, type SqlBool } from 'kysely';
import { type Change, parseChange } from '../../text/describe-change.js';
import type { Reader } from '../../store/contract/reader.js';
import { TABLES, type Tables } from '../../store/contract/tables.js';
import { queryBuilder } from '../../store/sql/builder.js';
import { select, sqlStatement } from '../../store/sql/columns.js';
import { findOwnerColumn } from '../../resources/entry.js';
import { ENTRIES, ENTRY_BY_RESOURCE, findResourceOfTable } from '../../resources/resources.js';
import { joinConditions, relation } from '../lists/relation.js';
import { buildOrganizationCondition, readFirst, readOne } from '../read-one.js';

/** The columns of a change, in the order in which they are shown. */
export const CHANGE_COLUMNS = Object.keys(TABLES['changes'] ?? {});

/** The resource of changes of installations. */
export const INSTALLATION = 'installation';

/** Resources that have changes. */
export const CHANGED = [INSTALLATION, ...Object.keys(ENTRY_BY_RESOURCE)];

export type ChangeRow = Tables['changes'];

export interface ChangeRangeRequest {
  /** Null for all organizations. */
  readonly organizationId: string | null;
  /** Null for all resources. */
  readonly resource: string | null;
  /** Selects changes observed at or after this instant. Null selects from the first change on. */
  readonly since: string | null;
  /** Selects changes observed by this instant. Null selects up to the newest change. */
  readonly until: string | null;
}

export const ALL_CHANGES: ChangeRangeRequest = {
  organizationId: null,
  resource: null,
  since: null,
  until: null,
};

/**
 * How many numbers one query covers. A number has one change at most. The first query covers few; later ones cover more, and
 * most if few changes match.
 */
const FIRST_WIDTH = 100;
const USUAL_WIDTH = 4_000;
const MAX_WIDTH = 20_000;
/** Few changes match if fewer than one in so many numbers does. */
const SPARSE_SHARE = 8;

/** Reads changes in the order of their numbers, up to the newest number at the time of the call. */
export async function* readChanges(reader: Reader, request: ChangeRangeRequest): AsyncGenerator<ChangeRow> {
  const last = await readLastNumber(reader);
  yield* readBetween(reader, request, await readNumberBefore(reader, request.since), last);
}

type SortDirection = 'asc' | 'desc';

/** Reads changes with numbers above `after`, up to `last`. With order `desc` the change with number `last` comes first. */
export async function* readBetween(
  reader: Reader,
  request: ChangeRangeRequest,
  after: number,
  last: number,
  order: SortDirection = 'asc',
): AsyncGenerator<ChangeRow> {
  for (let [from, to, width] = [after, last, FIRST_WIDTH]; from < to; ) {
    const [low, high] =
      order === 'asc' ? [from, Math.min(from + width, to)] : [Math.max(from, to - width), to];
    const isInRange = sql<SqlBool>`number > ${low} AND number <= ${high}`;
    const rows = await reader.all(selectChanges(request, isInRange, order));
    yield* rows;
    width = Math.min(4 * width, rows.length < width / SPARSE_SHARE ? MAX_WIDTH : USUAL_WIDTH);
    if (order === 'asc') from = high;
    else to = low;
  }
}

/** Reads the changes with these numbers. */
export async function readNumberedChanges({ all }: Reader, numbers: readonly number[]): Promise<Change[]> {
  if (numbers.length === 0) return [];
  const rows = await all(selectChanges(ALL_CHANGES, sql<SqlBool>`number IN ${numbers}`, 'desc'));
  return rows.map(parseChange);
}

/** Reads the newest changes, or the newest of those with a number below `before`. The newest comes first. */
export async function readNewest(
  reader: Reader,
  request: ChangeRangeRequest,
  before: number | null,
  limit: number,
): Promise<Change[]> {
  const from = await readNumberBefore(reader, request.since);
  const newest = await readNumberUpperBound(reader, request.until);
  const last = before === null ? newest : Math.min(newest, before - 1);
  const changes: Change[] = [];
  for await (const row of readNewestBetween(reader, request, from, last))
    if (changes.push(parseChange(row)) >= limit) break;
  return changes;
}

/** How many of the newest numbers are searched for changes of one organization before its own numbers are listed. */
const SEARCHED_NUMBERS = 2_000;
/** How many numbers of an organization are listed at once. */
const LISTED_NUMBERS = 200;

/**
 * Reads changes with numbers from `last` down to `after` (excluded). For one organization, searches only the newest numbers directly. Of
 * the lower numbers, first lists those of the organization's changes, because they may be far apart, and then reads only these changes.
 */
async function* readNewestBetween(
  reader: Reader,
  request: ChangeRangeRequest,
  after: number,
  last: number,
): AsyncGenerator<ChangeRow> {
  const { organizationId } = request;
  const searched = organizationId === null ? after : Math.max(after, last - SEARCHED_NUMBERS);
  yield* readBetween(reader, request, searched, last, 'desc');
  if (organizationId === null) return;
  for (let to = searched; to > after; ) {
    const numbers = await listNumbers(reader, organizationId, request.resource, after, to);
    if (numbers.length > 0)
      yield* await reader.all(selectChanges(request, sql<SqlBool>`number IN ${numbers}`, 'desc'));
    to = numbers.length < LISTED_NUMBERS ? after : Math.min(...numbers) - 1;
  }
}

/**
 * Lists the newest change numbers of an organization and of the projects that its rows refer to. Each number is above `after` and not above
 * `to`. Returns at most `LISTED_NUMBERS` numbers.
 */
async function listNumbers(
  { all }: Reader,
  organizationId: string,
  resource: string | null,
  after: number,
  to: number,
): Promise<number[]> {
  const projects = selectProjects(organizationId);
  const past = queryBuilder.selectFrom('mirror.past');
  const parts = ENTRIES.flatMap(entry => {
    const name = findResourceOfTable(entry);
    if (resource !== null && name !== resource) return [];
    const owner = findOwnerColumn(entry);
    const isCurrent =
      owner === null ? sql<SqlBool>`id IN ${projects}` : buildOrganizationCondition(organizationId, owner);
    const isPast =
      owner === null
        ? sql<SqlBool>`organization_id IS NULL AND key IN ${projects}`
        : buildOrganizationCondition(organizationId);
    const versions = past.where('resource', '=', name).where(isPast);
    // Without a condition on `is_removed`, which no index has: a version that was replaced ended with the number of the next one.
    return [
      sql`SELECT version AS number FROM ${relation(entry.table)} WHERE ${isCurrent}`,
      versions.select('version as number'),
      versions.select('closed_version as number'),
    ].map(part => sql`SELECT number FROM (${part}) AS part`);
  });
  const number = sql.ref<number>('number');
  const rows =
    await all(sqlStatement`SELECT DISTINCT ${select({ number })} FROM (${sql.join(parts, sql` UNION ALL `)}) AS listed
    WHERE number > ${after} AND number <= ${to} ORDER BY number DESC LIMIT ${LISTED_NUMBERS}`);
  return rows.map(row => row.number);
}

/** Returns the SQL query of the changes that `readNewest` reads, with all values filled in, so that a user can run it. */
export function newestInSql(
  { formatQuery }: Reader,
  request: ChangeRangeRequest,
  before: number | null,
  limit: number,
): string {
  const isOlder = before === null ? null : sql<SqlBool>`number < ${before}`;
  return formatQuery(selectChanges(request, isOlder, 'desc').limit(limit));
}

/** Reads the highest change number in use. Every change up to it is already committed. */
export async function readLastNumber(reader: Reader): Promise<number> {
  const counter = queryBuilder.selectFrom('mirror.version_counter').select('last');
  return (await readOne(reader, counter)).last;
}

/**
 * Builds the query of the requested changes. `isInRange` is a condition on change numbers; null selects all of them.
 */
function selectChanges(
  request: ChangeRangeRequest,
  isInRange: Expression<SqlBool> | null,
  order: SortDirection,
) {
  const { organizationId: id, resource, since, until } = request;
  const conditions = joinConditions([
    ...(resource === null ? [] : [sql<SqlBool>`resource = ${resource}`]),
    ...(since === null ? [] : [sql<SqlBool>`observed_at >= ${since}`]),
    ...(until === null ? [] : [sql<SqlBool>`observed_at <= ${until}`]),
    ...(isInRange === null ? [] : [isInRange]),
  ]);
  const all = queryBuilder.selectFrom('mirror.changes').selectAll();
  if (id === null) return all.where(conditions).orderBy('number', order);
  // PostgreSQL does not pass a condition with a subquery on to the tables below a view, and would compare every change of all
  // organizations. So the projects are selected apart from the organization's own rows.
  const projects = selectProjects(id);
  return all
    .where('organization_id', '=', id)
    .where(conditions)
    .unionAll(
      all.where('organization_id', 'is', null).where(sql<SqlBool>`row_id IN ${projects}`).where(conditions),
    )
    .orderBy('number', order);
}

/** Selects the ids of the projects that rows of an organization refer to. */
function selectProjects(organizationId: string) {
  return queryBuilder
    .selectFrom('mirror.project_references')
    .select('project_id')
    .where('organization_id', '=', organizationId);
}

/**
 * Returns an upper bound: every change observed by the instant has this number or a lower one. The bound is the highest number of the syncs
 * that had started or ended by the instant, or that still run. If `instant` is null, or if no sync ended after the instant, returns the
 * newest number.
 */
async function readNumberUpperBound(reader: Reader, instant: string | null): Promise<number> {
  if (instant === null || !(await hasSyncEndedAfter(reader, instant))) return await readLastNumber(reader);
  const { number } = await readOne(
    reader,
    queryBuilder
      .selectFrom('mirror.syncs')
      .select(eb => eb.fn.max('changes_up_to').as('number'))
      .where(eb =>
        eb.or([
          eb('started_at', '<=', instant),
          eb('finished_at', '<=', instant),
          eb('finished_at', 'is', null),
        ]),
      ),
  );
  return number ?? 0;
}

/** Whether any sync ended after the instant. */
async function hasSyncEndedAfter(reader: Reader, instant: string): Promise<boolean> {
  const later = queryBuilder.selectFrom('mirror.syncs').select('id').where('finished_at', '>', instant);
  return (await readFirst(reader, later)) !== null;
}

/**
 * Returns a change number. All changes up to this number were observed before the instant. Takes the number from the last sync that had
 * ended before the instant. Skips a sync if an earlier one ended at or after the instant, because the clock may have been set back between
 * them. Returns 0 if no sync remains, or if `instant` is null.
 */
export async function readNumberBefore(reader: Reader, instant: string | null): Promise<number> {
  if (instant === null) return 0;
  const ended = await readFirst(
    reader,
    queryBuilder
      .selectFrom('mirror.syncs')
      .select('changes_up_to')
      .where('changes_up_to', 'is not', null)
      .where('finished_at', '<', instant)
      .where(eb => {
        const firstLater = eb
          .selectFrom('mirror.syncs')
          .select(eb.fn.min('id').as('id'))
          .where('changes_up_to', 'is not', null)
          .where('finished_at', '>=', instant);
        return eb('id', '<', sql<number>`coalesce(${firstLater}, id + 1)`);
      })
      .orderBy('finished_at', 'desc')
      .orderBy('changes_up_to', 'desc'),
  );
  return ended?.changes_up_to ?? 0;
}
