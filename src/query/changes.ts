import type { Reader } from '../engines/contract/reader.js';
import type { Tables } from '../engines/contract/tables.js';

export type ChangeRow = Tables['changes'];

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
const AT_ONCE = 1_000;
const NUMBERS_AT_ONCE = 20_000;

/** In the order of their numbers, to the newest that there was when it was asked for. */
export async function* readChanges(reader: Reader, asked: ChangesAsked): AsyncGenerator<ChangeRow> {
  const last = await readLastNumber(reader);
  const from = asked.since === null ? 0 : await readNumberBefore(reader, asked.since);
  yield* readBetween(reader, asked, from, last);
}

/** Those after a number, in their order. */
export async function* readBetween(
  reader: Reader,
  asked: ChangesAsked,
  after: number,
  last: number,
): AsyncGenerator<ChangeRow> {
  let seen = after;
  while (seen < last) {
    const end = Math.min(seen + NUMBERS_AT_ONCE, last);
    const rows = await readSome(reader, asked, seen, end);
    yield* rows;
    seen = rows.length < AT_ONCE ? end : (rows.at(-1)?.number ?? end);
  }
}

/** The newest number in use: of no change with one up to it is anything still to come. */
export async function readLastNumber({ db }: Reader): Promise<number> {
  return (await db.selectFrom('version_counter').select('last').executeTakeFirstOrThrow()).last;
}

async function readSome(reader: Reader, asked: ChangesAsked, after: number, last: number) {
  const { organizationId, resource, since, until } = asked;
  const { db } = reader;
  let found = db.selectFrom('changes').selectAll().where('number', '>', after).where('number', '<=', last);
  if (resource !== null) found = found.where('resource', '=', resource);
  if (since !== null) found = found.where('learnt_at', '>=', since);
  if (until !== null) found = found.where('learnt_at', '<=', until);
  if (organizationId !== null) {
    const named = db
      .selectFrom('project_references')
      .select('project_id')
      .where('organization_id', '=', organizationId);
    found = found.where(eb =>
      eb.or([
        eb('organization_id', '=', organizationId),
        eb.and([eb('organization_id', 'is', null), eb('id', 'in', named)]),
      ]),
    );
  }
  return await found.orderBy('number').limit(AT_ONCE).execute();
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
  const run = await ended.orderBy('finished_at', 'desc').limit(1).executeTakeFirst();
  return run?.last_number ?? 0;
}
