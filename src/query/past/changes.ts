import type { SelectQueryBuilder } from 'kysely';
import type { Plain, Reader } from '../../engines/contract/reader.js';
import type { Tables } from '../../engines/contract/tables.js';
import { readChanged, asTold, type Told, toldOf, type ToldRow } from './told.js';

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
/** Sentences are short, and what is gone before more come costs no memory. */
const TOLD_AT_ONCE = 4_000;
/** Where fewer came than a part of what may come, they are sought among more numbers: what is found is made once only. */
const FEW = 8;
/** Whoever wants a few of the newest finds them among these most of the time. */
const FIRST_NUMBERS = 100;
const LAST_ID = Number.MAX_SAFE_INTEGER;

/** In the order of their numbers, to the newest that there was when it was asked for. */
export async function* readChanges(reader: Reader, asked: ChangesAsked): AsyncGenerator<ChangeRow> {
  const last = await readLastNumber(reader);
  const from = asked.since === null ? 0 : await readNumberBefore(reader, asked.since);
  yield* readBetween(reader, asked, from, last);
}

/** The same changes in groups, and of each what its sentence is made of. */
export async function* readTold(plain: Plain, asked: ChangesAsked): AsyncGenerator<readonly Told[]> {
  const last = await readLastNumber(plain);
  const from = asked.since === null ? 0 : await readNumberBefore(plain, asked.since);
  const entries = await readChanged(plain, asked.resource, from);
  const find = finder(plain, asked, entries);
  let width = TOLD_AT_ONCE;
  for (let seen = from; seen < last && entries.length > 0; ) {
    const end = Math.min(seen + width, last);
    const found = await find(seen, end);
    yield found.sort((one, other) => one.number - other.number);
    width = found.length < width / FEW ? Math.min(2 * width, NUMBERS_AT_ONCE) : TOLD_AT_ONCE;
    seen = end;
  }
}

/** Finds those of some resources that lie after a number and up to another, resource by resource. */
function finder(plain: Plain, asked: ChangesAsked, entries: Parameters<typeof toldOf>[1][]) {
  const { where, given } = matchingText(plain, asked);
  const sources = entries.map(entry => ({ ...toldOf(plain, entry), told: asTold(entry) }));
  return async (after: number, last: number, rest = ''): Promise<Told[]> => {
    const found: Told[] = [];
    for (const { cells, from, told } of sources) {
      const those = `${from} WHERE number > $1 AND number <= $2 ${where} ${rest}`;
      for (const row of await plain.rows<ToldRow>(cells, those, [after, last, ...given]))
        found.push(told(row));
    }
    return found;
  };
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
): Promise<Told[]> {
  const from = asked.since === null ? 0 : await readNumberBefore(reader, asked.since);
  const newest =
    asked.until === null ? await readLastNumber(reader) : await readNumberBy(reader, asked.until);
  const found: Told[] = [];
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
  plain: Plain,
  asked: ChangesAsked,
  { after, last, limit }: Readonly<Record<'after' | 'last' | 'limit', number>>,
): Promise<Told[]> {
  const entries = await readChanged(plain, asked.resource, after);
  const found = await finder(plain, asked, entries)(after, last, `ORDER BY number DESC LIMIT ${limit}`);
  return found.sort((one, other) => other.number - one.number).slice(0, limit);
}

/** The newest number in use: of no change with one up to it is anything still to come. */
export async function readLastNumber({ rows, table }: Plain): Promise<number> {
  const [row] = await rows<readonly [number]>(['last'], `FROM ${table('version_counter')}`);
  if (row === undefined) throw new Error('expected a counter of versions, got none');
  return row[0];
}

function numbered(found: Found, after: number, last: number) {
  return found.where('number', '>', after).where('number', '<=', last);
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

/** The same in a statement that is written out, after two values. */
function matchingText({ table }: Plain, { organizationId, since, until }: ChangesAsked) {
  const given: string[] = [];
  const place = (value: string) => `$${given.push(value) + 2}`;
  const where = [
    ...(since === null ? [] : [`AND learnt_at >= ${place(since)}`]),
    ...(until === null ? [] : [`AND learnt_at <= ${place(until)}`]),
    ...(organizationId === null ? [] : [`AND ${ofOrganization(table, place(organizationId))}`]),
  ];
  return { where: where.join(' '), given };
}

/** Its own, and those of the projects that it names. */
export function ofOrganization(table: Plain['table'], organization: string): string {
  const named = `SELECT project_id FROM ${table('project_references')} WHERE organization_id = ${organization}`;
  return `(organization_id = ${organization} OR organization_id IS NULL AND id IN (${named}))`;
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
async function readNumberBefore({ rows, table }: Plain, instant: string): Promise<number> {
  const runs = `${table('sync_runs')} WHERE last_number IS NOT NULL AND finished_at`;
  const [ended] = await rows<readonly [number]>(
    ['last_number'],
    `FROM ${runs} < $1 AND id < coalesce((SELECT min(id) FROM ${runs} >= $1), ${LAST_ID})
     ORDER BY finished_at DESC, last_number DESC LIMIT 1`,
    [instant],
  );
  return ended?.[0] ?? 0;
}
