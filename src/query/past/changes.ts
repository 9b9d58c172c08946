import type { SelectQueryBuilder } from 'kysely';
import type { Reader } from '../../engines/contract/reader.js';
import type { Tables } from '../../engines/contract/tables.js';
import { readChanged, toldOf } from './told.js';

/** What is shown of a change, in this order. */
export const CHANGE_COLUMNS = [
  'number',
  'learnt_at',
  'organization_id',
  'organization_name',
  'resource',
  'id',
  'change',
  'before',
  'after',
  'changed_columns',
  'sync_run_id',
  'trigger',
  'job_id',
  'delivery_id',
] as const;

export type ChangeRow = Tables['changes'];

type Found = SelectQueryBuilder<Tables, 'changes', ChangeRow>;

export interface ChangesAsked {
  /** Null for all of them. */
  readonly organizationId: string | null;
  readonly resource: string | null;
  /** What was learnt at or after it; null from the first on. */
  readonly since: string | null;
  /** What was learnt by then; null to the last. */
  readonly until: string | null;
}

/** One statement finds no more changes than this, among no more numbers than that. */
const AT_ONCE = 4_000;
const NUMBERS_AT_ONCE = 20_000;
/** Sentences are short, and a statement for few of them costs as much as one for many. */
const TOLD_AT_ONCE = 16_000;
/** Where fewer came than a part of what may come, they are sought among more numbers: what is found is made once only. */
const FEW = 8;
/** Whoever wants a few of the newest finds them among these most of the time. */
const FIRST_NUMBERS = 100;

/** In the order of their numbers, to the newest that there was when it was asked for. */
export async function* readChanges(reader: Reader, asked: ChangesAsked): AsyncGenerator<ChangeRow> {
  const last = await readLastNumber(reader);
  const from = asked.since === null ? 0 : await readNumberBefore(reader, asked.since);
  yield* readBetween(reader, asked, from, last);
}

/** The same in groups, and of their rows what a sentence and a sum are made of. */
export async function* readTold(reader: Reader, asked: ChangesAsked): AsyncGenerator<readonly ChangeRow[]> {
  const last = await readLastNumber(reader);
  const from = asked.since === null ? 0 : await readNumberBefore(reader, asked.since);
  const entries = await readChanged(reader, asked.resource, from);
  if (entries.length === 0) return;
  yield* inGroups(toldBy(reader, asked, entries), TOLD_AT_ONCE, from, last);
}

/** Those that restated what is dated in a year that was over, in their order and in groups. */
export async function* readRestated(
  reader: Reader,
  asked: ChangesAsked,
  year: string,
): AsyncGenerator<readonly ChangeRow[]> {
  let found = reader.db.selectFrom('restatements').select('number').where('year', '=', year);
  if (asked.organizationId !== null) found = found.where('organization_id', '=', asked.organizationId);
  const numbers = (await found.orderBy('number').execute()).map(({ number }) => number);
  for (let from = 0; from < numbers.length; from += AT_ONCE) {
    const these = reader.say.each(numbers.slice(from, from + AT_ONCE));
    yield await changesOf(reader, asked).where('number', 'in', these).orderBy('number').execute();
  }
}

/** Those after a number, in their order. */
export async function* readBetween(
  reader: Reader,
  asked: ChangesAsked,
  after: number,
  last: number,
): AsyncGenerator<ChangeRow> {
  for await (const group of inGroups(changesOf(reader, asked), AT_ONCE, after, last)) yield* group;
}

async function* inGroups(
  found: Found,
  atOnce: number,
  after: number,
  last: number,
): AsyncGenerator<ChangeRow[]> {
  let seen = after;
  for (let width = atOnce; seen < last; ) {
    const end = Math.min(seen + width, last);
    const rows = await numbered(found, seen, end).orderBy('number').limit(atOnce).execute();
    yield rows;
    seen = rows.length < atOnce ? end : (rows.at(-1)?.number ?? end);
    width = rows.length < atOnce / FEW ? Math.min(2 * width, NUMBERS_AT_ONCE) : atOnce;
  }
}

/** The newest first, of those before a number, or of all of them: of their rows what a sentence and a sum are made of. */
export async function readNewest(
  reader: Reader,
  asked: ChangesAsked,
  before: number | null,
  limit: number,
): Promise<ChangeRow[]> {
  const from = asked.since === null ? 0 : await readNumberBefore(reader, asked.since);
  const newest =
    asked.until === null ? await readLastNumber(reader) : await readNumberBy(reader, asked.until);
  const found: ChangeRow[] = [];
  let last = before === null ? newest : Math.min(newest, before - 1);
  for (
    let width = Math.max(limit, FIRST_NUMBERS);
    last > from && found.length < limit;
    width = Math.min(4 * width, NUMBERS_AT_ONCE)
  ) {
    const after = Math.max(from, last - width);
    found.push(...(await readNewestBetween(reader, asked, { after, last, limit: limit - found.length })));
    last = after;
  }
  return found;
}

async function readNewestBetween(
  reader: Reader,
  asked: ChangesAsked,
  { after, last, limit }: Readonly<Record<'after' | 'last' | 'limit', number>>,
): Promise<ChangeRow[]> {
  const entries = await readChanged(reader, asked.resource, after);
  if (entries.length === 0) return [];
  const rows = numbered(toldBy(reader, asked, entries), after, last);
  return await rows.orderBy('number', 'desc').limit(limit).execute();
}

/** The newest number in use: of no change with one up to it is anything still to come. */
export async function readLastNumber({ db }: Reader): Promise<number> {
  return (await db.selectFrom('version_counter').select('last').executeTakeFirstOrThrow()).last;
}

function numbered(found: Found, after: number, last: number) {
  return found.where('number', '>', after).where('number', '<=', last);
}

function toldBy(reader: Reader, asked: ChangesAsked, entries: Parameters<typeof toldOf>[1]): Found {
  return matching(reader.db.selectFrom(toldOf(reader, entries)).selectAll(), reader, asked);
}

function changesOf(reader: Reader, asked: ChangesAsked): Found {
  return matching(reader.db.selectFrom('changes').selectAll(), reader, asked);
}

function matching(all: Found, { db }: Reader, { organizationId, resource, since, until }: ChangesAsked) {
  let found = all;
  if (resource !== null) found = found.where('resource', '=', resource);
  if (since !== null) found = found.where('learnt_at', '>=', since);
  if (until !== null) found = found.where('learnt_at', '<=', until);
  if (organizationId === null) return found;
  const named = db
    .selectFrom('project_references')
    .select('project_id')
    .where('organization_id', '=', organizationId);
  return found.where(eb =>
    eb.or([
      eb('organization_id', '=', organizationId),
      eb.and([eb('organization_id', 'is', null), eb('id', 'in', named)]),
    ]),
  );
}

/** A number after which nothing was learnt by the instant: what was, a read had found that began or ended by then, or that still runs. */
async function readNumberBy({ db }: Reader, instant: string): Promise<number> {
  const { last } = await db
    .selectFrom('sync_runs')
    .select(eb => eb.fn.max<number | null>('last_number').as('last'))
    .where(eb =>
      eb.or([
        eb('started_at', '<=', instant),
        eb('finished_at', '<=', instant),
        eb('finished_at', 'is', null),
      ]),
    )
    .executeTakeFirstOrThrow();
  return last ?? 0;
}

/**
 * A number up to which nothing was learnt at or after the instant. What a run that had ended by then wrote was committed
 * by then, and with it every lower number. Runs that were entered after one with a later end, as where the clock was set
 * back, say nothing.
 */
async function readNumberBefore({ db }: Reader, instant: string): Promise<number> {
  const later = db
    .selectFrom('sync_runs')
    .select(eb => eb.fn.min('id').as('id'))
    .where('last_number', 'is not', null)
    .where('finished_at', '>=', instant);
  const { id } = await later.executeTakeFirstOrThrow();
  let ended = db
    .selectFrom('sync_runs')
    .select('last_number')
    .where('last_number', 'is not', null)
    .where('finished_at', '<', instant);
  if (id !== null) ended = ended.where('id', '<', id);
  const newest = ended.orderBy('finished_at', 'desc').orderBy('last_number', 'desc');
  const run = await newest.limit(1).executeTakeFirst();
  return run?.last_number ?? 0;
}
