import { type Change, parseChange } from '../../text/change.js';
import type { Reader, Statement } from '../../store/contract/reader.js';
import { TABLES, type Tables } from '../../store/contract/tables.js';
import { ENTRY_OF } from '../../resources/resources.js';
import { columns, every, first, largest, only, plain, sql } from '../sql.js';

/** What is shown of a change, in this order. */
export const CHANGE_COLUMNS = Object.keys(TABLES['changes'] ?? {});

/** What changes, by its word. */
export const CHANGED = ['installation', ...Object.keys(ENTRY_OF)];

export type ChangeRow = Tables['changes'];

export interface ChangesAsked {
  /** Null for all of them. */
  readonly organizationId: string | null;
  readonly resource: string | null;
  /** What was observed at or after it; null from the first on. */
  readonly since: string | null;
  /** What was observed by then; null to the last. */
  readonly until: string | null;
}

export const ALL_CHANGES: ChangesAsked = { organizationId: null, resource: null, since: null, until: null };

/** A number is one change at most: one statement looks at so many of them, and at more where few were as asked for. */
const NUMBERS_AT_ONCE = 4_000;
const MOST_NUMBERS = 20_000;
const FEW = 8;
/** Whoever wants a few of the newest finds them among these most of the time. */
const FIRST_NUMBERS = 100;

/** In the order of their numbers, to the newest that there was when it was asked for. */
export async function* readChanges(reader: Reader, asked: ChangesAsked): AsyncGenerator<ChangeRow> {
  const last = await readLastNumber(reader);
  yield* readBetween(reader, asked, await readNumberBefore(reader, asked.since), last);
}

/** Those after a number, in their order. */
export async function* readBetween(
  reader: Reader,
  asked: ChangesAsked,
  after: number,
  last: number,
): AsyncGenerator<ChangeRow> {
  for (let [seen, width] = [after, NUMBERS_AT_ONCE]; seen < last; ) {
    const end = Math.min(seen + width, last);
    const rows = await reader.all(changesOf(asked, [sql`number > ${seen}`, sql`number <= ${end}`]));
    yield* rows;
    width = rows.length < width / FEW ? Math.min(2 * width, MOST_NUMBERS) : NUMBERS_AT_ONCE;
    seen = end;
  }
}

/** The newest first, of those before a number, or of all of them. */
export async function readNewest(
  reader: Reader,
  asked: ChangesAsked,
  before: number | null,
  limit: number,
): Promise<Change[]> {
  const from = await readNumberBefore(reader, asked.since);
  const newest = await readNumberBy(reader, asked.until);
  const found: ChangeRow[] = [];
  let last = before === null ? newest : Math.min(newest, before - 1);
  for (let width = Math.max(limit, FIRST_NUMBERS); last > from && found.length < limit; ) {
    const after = Math.max(from, last - width);
    const these = [sql`number > ${after}`, sql`number <= ${last}`];
    found.push(...(await reader.all(newestOf(asked, these, limit - found.length))));
    width = Math.min(4 * width, MOST_NUMBERS);
    last = after;
  }
  return found.map(parseChange);
}

const OF_RETIREMENTS = columns('retirements', [
  'organization_id',
  'id',
  'amount_exact',
  'project_name',
  'vintage',
  'beneficiary',
]);

/** Beside what certificates were the retirements that they are of: an id says nothing. */
export async function withRetirements({ all }: Reader, changes: readonly Change[]): Promise<Change[]> {
  const certificates = changes.filter(({ resource }) => resource === 'certificates');
  const owners = new Set(certificates.flatMap(({ organization_id: owner }) => owner ?? []));
  const ids = certificates.map(({ row_id: id }) => id);
  const found = await all(sql`SELECT ${OF_RETIREMENTS} FROM mirror.retirements
    WHERE organization_id IN ${[...owners]} AND id IN ${ids}`);
  return changes.map(change => {
    const { resource, row_id: id, organization_id: owner, before, after } = change;
    const of = found.find(each => each.id === id && each.organization_id === owner);
    if (resource !== 'certificates' || of === undefined) return change;
    return { ...change, before: before && { ...of, ...before }, after: after && { ...of, ...after } };
  });
}

/** The same as a person may ask it. */
export function newestInSql(
  { shown }: Reader,
  asked: ChangesAsked,
  before: number | null,
  limit: number,
): string {
  return shown(newestOf(asked, before === null ? [] : [sql`number < ${before}`], limit));
}

/** The newest number in use: of no change with one up to it is anything still to come. */
export async function readLastNumber(reader: Reader): Promise<number> {
  return (await only(reader, sql`SELECT ${columns('version_counter', ['last'])} FROM mirror.version_counter`))
    .last;
}

function changesOf(asked: ChangesAsked, more: readonly Statement[], order = 'number'): Statement<ChangeRow> {
  const { organizationId: id, resource, since, until } = asked;
  const named = sql`SELECT project_id FROM mirror.project_references WHERE organization_id = ${id}`;
  return sql`SELECT * FROM mirror.changes WHERE ${every([
    ...(resource === null ? [] : [sql`resource = ${resource}`]),
    ...(since === null ? [] : [sql`observed_at >= ${since}`]),
    ...(until === null ? [] : [sql`observed_at <= ${until}`]),
    ...(id === null
      ? []
      : [sql`(organization_id = ${id} OR (organization_id IS NULL AND row_id IN (${named})))`]),
    ...more,
  ])} ORDER BY ${plain(order)}`;
}

function newestOf(asked: ChangesAsked, more: readonly Statement[], limit: number) {
  return sql`${changesOf(asked, more, 'number DESC')} LIMIT ${limit}`;
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

/** By a list and its organization, with a space between: the end of its first complete read. What was seen until then rose nowhere. */
export async function readOpenings({ all }: Reader): Promise<ReadonlyMap<string, string>> {
  const wanted = columns('resource_states', ['organization_id', 'resource', 'first_complete_at']);
  const found = await all(
    sql`SELECT ${wanted} FROM mirror.resource_states WHERE first_complete_at IS NOT NULL`,
  );
  return new Map(
    found.map(each => [`${each.resource} ${each.organization_id}`, each.first_complete_at ?? '']),
  );
}
