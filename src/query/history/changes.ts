import { type Change, parseChange } from '../../text/change.js';
import type { Reader } from '../../store/contract/reader.js';
import { TABLES, type Tables } from '../../store/contract/tables.js';
import { ENTRY_OF } from '../../resources/resources.js';
import { largest, sqlOf } from '../sql.js';

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
const LAST_ID = Number.MAX_SAFE_INTEGER;

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
    const rows = await numbered(reader, asked, seen, end).orderBy('number').execute();
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
    const rows = numbered(reader, asked, after, last).orderBy('number', 'desc');
    found.push(...(await rows.limit(limit - found.length).execute()));
    width = Math.min(4 * width, MOST_NUMBERS);
    last = after;
  }
  return found.map(parseChange);
}

/** Beside what certificates were the retirements that they are of: an id says nothing. */
export async function withRetirements({ db, say }: Reader, changes: readonly Change[]): Promise<Change[]> {
  const certificates = changes.filter(({ resource }) => resource === 'certificates');
  const owners = new Set(certificates.flatMap(({ organization_id: owner }) => owner ?? []));
  const found = await db
    .selectFrom('retirements')
    .where('organization_id', 'in', say.texts([...owners]))
    .where('id', 'in', say.texts(certificates.map(({ row_id: id }) => id)))
    .select(['organization_id', 'id', 'amount_exact', 'project_name', 'vintage', 'beneficiary'])
    .execute();
  return changes.map(change => {
    const { resource, row_id: id, organization_id: owner, before, after } = change;
    const of = found.find(each => each.id === id && each.organization_id === owner);
    if (resource !== 'certificates' || of === undefined) return change;
    return { ...change, before: before && { ...of, ...before }, after: after && { ...of, ...after } };
  });
}

/** The same as a person may ask it. */
export function newestInSql(
  reader: Reader,
  asked: ChangesAsked,
  before: number | null,
  limit: number,
): string {
  const found = changesOf(reader, asked).orderBy('number', 'desc').limit(limit);
  return sqlOf(before === null ? found : found.where('number', '<', before));
}

/** The newest number in use: of no change with one up to it is anything still to come. */
export async function readLastNumber({ db }: Reader): Promise<number> {
  return (await db.selectFrom('version_counter').select('last').executeTakeFirstOrThrow()).last;
}

function numbered(reader: Reader, asked: ChangesAsked, after: number, last: number) {
  return changesOf(reader, asked).where('number', '>', after).where('number', '<=', last);
}

function changesOf({ db }: Reader, { organizationId, resource, since, until }: ChangesAsked) {
  let found = db.selectFrom('changes').selectAll();
  if (resource !== null) found = found.where('resource', '=', resource);
  if (since !== null) found = found.where('observed_at', '>=', since);
  if (until !== null) found = found.where('observed_at', '<=', until);
  if (organizationId === null) return found;
  const named = db
    .selectFrom('project_references')
    .select('project_id')
    .where('organization_id', '=', organizationId);
  return found.where(eb =>
    eb.or([
      eb('organization_id', '=', organizationId),
      eb.and([eb('organization_id', 'is', null), eb('row_id', 'in', named)]),
    ]),
  );
}

/** A number after which nothing was observed by the instant: what was, a read had found that began or ended by then, or that still runs. */
async function readNumberBy(reader: Reader, instant: string | null): Promise<number> {
  if (instant === null) return await readLastNumber(reader);
  const found = reader.db
    .selectFrom('syncs')
    .where(eb =>
      eb.or([
        eb('started_at', '<=', instant),
        eb('finished_at', '<=', instant),
        eb('finished_at', 'is', null),
      ]),
    );
  return (await largest(found, 'changes_up_to')) ?? 0;
}

/**
 * A number up to which nothing was observed at or after the instant. What a sync that had ended by then wrote was committed
 * by then, and with it every lower number. Syncs that were entered after one with a later end, as where the clock was set
 * back, say nothing.
 */
async function readNumberBefore({ db }: Reader, instant: string | null): Promise<number> {
  if (instant === null) return 0;
  const syncs = db.selectFrom('syncs').where('changes_up_to', 'is not', null);
  const later = syncs.where('finished_at', '>=', instant).select(eb => eb.fn.min('id').as('id'));
  const ended = await syncs
    .select('changes_up_to')
    .where('finished_at', '<', instant)
    .where(eb => eb('id', '<', eb.fn.coalesce(later, eb.lit(LAST_ID))))
    .orderBy('finished_at', 'desc')
    .orderBy('changes_up_to', 'desc')
    .limit(1)
    .executeTakeFirst();
  return ended?.changes_up_to ?? 0;
}

/** By a list and its organization, with a space between: the end of its first complete read. What was seen until then rose nowhere. */
export async function readOpenings({ db }: Reader): Promise<ReadonlyMap<string, string>> {
  const found = await db
    .selectFrom('resource_states')
    .select(['organization_id', 'resource', 'first_complete_at'])
    .where('first_complete_at', 'is not', null)
    .execute();
  return new Map(
    found.map(each => [`${each.resource} ${each.organization_id}`, each.first_complete_at ?? '']),
  );
}
