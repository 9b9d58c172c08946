import { type Change, parseChange } from '../../text/describe-change.js';
import type { Reader, Statement } from '../../store/contract/reader.js';
import { TABLES, type Tables } from '../../store/contract/tables.js';
import { findOwnerColumn } from '../../resources/entry.js';
import { ENTRIES, ENTRY_BY_RESOURCE, findResourceOfTable } from '../../resources/resources.js';
import { columns, every, first, joined, largest, only, plain, sql, table } from '../sql.js';

/** What is shown of a change, in this order. */
export const CHANGE_COLUMNS = Object.keys(TABLES['changes'] ?? {});

/** What changes, by its word. */
export const CHANGED = ['installation', ...Object.keys(ENTRY_BY_RESOURCE)];

export type ChangeRow = Tables['changes'];

export interface ChangeRangeRequest {
  /** Null for all of them. */
  readonly organizationId: string | null;
  readonly resource: string | null;
  /** What was observed at or after it; null from the first on. */
  readonly since: string | null;
  /** What was observed by then; null to the last. */
  readonly until: string | null;
}

export const ALL_CHANGES: ChangeRangeRequest = {
  organizationId: null,
  resource: null,
  since: null,
  until: null,
};

/** A number is one change at most: one statement looks at so many of them, at few at first, and at the most where few were as asked for. */
const FIRST_NUMBERS = 100;
const NUMBERS_AT_ONCE = 4_000;
const MOST_NUMBERS = 20_000;
const FEW = 8;

/** In the order of their numbers, to the newest that there was when it was asked for. */
export async function* readChanges(reader: Reader, asked: ChangeRangeRequest): AsyncGenerator<ChangeRow> {
  const last = await readLastNumber(reader);
  yield* readBetween(reader, asked, await readNumberBefore(reader, asked.since), last);
}

type Way = 'number' | 'number DESC';

/** Those after a number, to the last, or from the last on back. */
export async function* readBetween(
  reader: Reader,
  asked: ChangeRangeRequest,
  after: number,
  last: number,
  way: Way = 'number',
): AsyncGenerator<ChangeRow> {
  for (let [from, to, width] = [after, last, FIRST_NUMBERS]; from < to; ) {
    const [low, high] =
      way === 'number' ? [from, Math.min(from + width, to)] : [Math.max(from, to - width), to];
    const rows = await reader.all(changesOf(asked, [sql`number > ${low}`, sql`number <= ${high}`], way));
    yield* rows;
    width = Math.min(4 * width, rows.length < width / FEW ? MOST_NUMBERS : NUMBERS_AT_ONCE);
    if (way === 'number') from = high;
    else to = low;
  }
}

/** The newest first, of those before a number, or of all of them. */
export async function readNewest(
  reader: Reader,
  asked: ChangeRangeRequest,
  before: number | null,
  limit: number,
): Promise<Change[]> {
  const from = await readNumberBefore(reader, asked.since);
  const newest = await readNumberBy(reader, asked.until);
  const last = before === null ? newest : Math.min(newest, before - 1);
  const found: Change[] = [];
  for await (const row of readNewestBetween(reader, asked, from, last))
    if (found.push(parseChange(row)) >= limit) break;
  return found;
}

/** How many of the newest numbers are searched for changes of one organization before its own numbers are listed. */
const SEARCHED_NUMBERS = 2_000;
/** How many numbers of an organization are listed at once. */
const LISTED_NUMBERS = 100;

/**
 * Reads changes from the last number back. Changes of one organization may be far apart: beyond the newest numbers, its own numbers are
 * listed first, so that a busy fleet is not searched for them.
 */
async function* readNewestBetween(
  reader: Reader,
  request: ChangeRangeRequest,
  after: number,
  last: number,
): AsyncGenerator<ChangeRow> {
  const { organizationId } = request;
  const searched = organizationId === null ? after : Math.max(after, last - SEARCHED_NUMBERS);
  yield* readBetween(reader, request, searched, last, 'number DESC');
  if (organizationId === null) return;
  for (let to = searched; to > after; ) {
    const numbers = await listNumbers(reader, organizationId, request.resource, after, to);
    if (numbers.length > 0)
      yield* await reader.all(changesOf(request, [sql`number IN ${numbers}`], 'number DESC'));
    to = numbers.length < LISTED_NUMBERS ? after : Math.min(...numbers) - 1;
  }
}

/** Lists the numbers of the newest changes of an organization, and of the projects that its rows refer to. */
async function listNumbers(
  { all }: Reader,
  organizationId: string,
  resource: string | null,
  after: number,
  to: number,
): Promise<number[]> {
  const projects = projectsOf(organizationId);
  const parts = ENTRIES.flatMap(entry => {
    const name = findResourceOfTable(entry);
    if (resource !== null && name !== resource) return [];
    const owner = findOwnerColumn(entry);
    const current = owner === null ? sql`id IN (${projects})` : sql`${plain(owner)} = ${organizationId}`;
    const closed =
      owner === null
        ? sql`organization_id IS NULL AND key IN (${projects})`
        : sql`organization_id = ${organizationId}`;
    const past = sql`mirror.past WHERE resource = ${name} AND ${closed}`;
    return [
      sql`SELECT version AS number FROM ${table(entry.table)} WHERE ${current}`,
      sql`SELECT version AS number FROM ${past}`,
      sql`SELECT closed_version AS number FROM ${past} AND is_removed = 1`,
    ];
  });
  const rows = await all(
    sql<{ number: number }>`SELECT number FROM (${joined(parts, ' UNION ALL ')}) AS listed
      WHERE number > ${after} AND number <= ${to} ORDER BY number DESC LIMIT ${LISTED_NUMBERS}`,
  );
  return rows.map(({ number }) => number);
}

/** The same as a person may ask it. */
export function newestInSql(
  { shown }: Reader,
  asked: ChangeRangeRequest,
  before: number | null,
  limit: number,
): string {
  const older = before === null ? [] : [sql`number < ${before}`];
  return shown(sql`${changesOf(asked, older, 'number DESC')} LIMIT ${limit}`);
}

/** The newest number in use: of no change with one up to it is anything still to come. */
export async function readLastNumber(reader: Reader): Promise<number> {
  return (await only(reader, sql`SELECT ${columns('version_counter', ['last'])} FROM mirror.version_counter`))
    .last;
}

function changesOf(asked: ChangeRangeRequest, more: readonly Statement[], way: Way): Statement<ChangeRow> {
  const { organizationId: id, resource, since, until } = asked;
  const conditions = [
    ...(resource === null ? [] : [sql`resource = ${resource}`]),
    ...(since === null ? [] : [sql`observed_at >= ${since}`]),
    ...(until === null ? [] : [sql`observed_at <= ${until}`]),
    ...more,
  ];
  const select = (...owner: Statement[]) =>
    sql`SELECT * FROM mirror.changes WHERE ${every([...owner, ...conditions])}`;
  const changes =
    id === null
      ? select()
      : sql`${select(sql`organization_id = ${id}`)}
    UNION ALL ${select(sql`organization_id IS NULL`, sql`row_id IN (${projectsOf(id)})`)}`;
  return sql`${changes} ORDER BY ${plain(way)}`;
}

/**
 * The projects that rows of an organization refer to. They are selected apart from its own rows: PostgreSQL does not pass a
 * condition with a subquery on to the tables below a view, and would compare every change of all organizations.
 */
function projectsOf(organizationId: string): Statement {
  return sql`SELECT project_id FROM mirror.project_references WHERE organization_id = ${organizationId}`;
}

/** A number after which nothing was observed by the instant: what was, a read had found that began or ended by then, or that still runs. */
async function readNumberBy(reader: Reader, instant: string | null): Promise<number> {
  const isLater = sql`SELECT id FROM mirror.syncs WHERE finished_at > ${instant} LIMIT 1`;
  if (instant === null || (await first(reader, isLater)) === null) return await readLastNumber(reader);
  const found = sql`mirror.syncs
    WHERE started_at <= ${instant} OR finished_at <= ${instant} OR finished_at IS NULL`;
  return (await largest<number>(reader, 'changes_up_to', found)) ?? 0;
}

/**
 * A number up to which nothing was observed at or after the instant. What a sync that had ended by then wrote was committed
 * by then, and with it every lower number. Syncs that were entered after one with a later end, as where the clock was set
 * back, say nothing.
 */
async function readNumberBefore(reader: Reader, instant: string | null): Promise<number> {
  if (instant === null) return 0;
  const later = sql`SELECT min(id) FROM mirror.syncs WHERE changes_up_to IS NOT NULL AND finished_at >= ${instant}`;
  const asked = sql`SELECT ${columns('syncs', ['changes_up_to'])} FROM mirror.syncs
    WHERE changes_up_to IS NOT NULL AND finished_at < ${instant} AND id < coalesce((${later}), id + 1)
    ORDER BY finished_at DESC, changes_up_to DESC LIMIT 1`;
  const ended = await first(reader, asked);
  return ended?.changes_up_to ?? 0;
}
