import { type Change, parseChange } from '../../text/describe-change.js';
import type { Reader, Statement } from '../../store/contract/reader.js';
import { TABLES, type Tables } from '../../store/contract/tables.js';
import { ENTRY_BY_RESOURCE } from '../../resources/resources.js';
import { columns, every, first, largest, only, plain, sql } from '../sql.js';

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
  for await (const row of readBetween(reader, asked, from, last, 'number DESC'))
    if (found.push(parseChange(row)) >= limit) break;
  return found;
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
  if (instant === null) return await readLastNumber(reader);
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
