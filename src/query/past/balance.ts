import { stoodAt } from '../by-name.js';
import { count } from '../count.js';
import { AT_ONCE, type Reader } from '../../engines/contract/reader.js';
import type { Tables } from '../../engines/contract/tables.js';

export type Reckoning = Tables['balance_retirements'];
export type ProjectBalance = Tables['balance_projects'];
export type SerialBalance = Tables['balance_serials'];
export type Move = Tables['credit_moves'];

export interface Whose {
  /** Null for all of them. */
  readonly organizationId: string | null;
}

/** What a credit had in one place at an instant. */
export interface Stock {
  readonly place: Move['place'];
  readonly organization_id: string;
  readonly credit_id: string;
  readonly part: string;
  readonly project_id: string | null;
  readonly vintage: string | null;
  readonly serialization: string | null;
  readonly type: string | null;
  readonly amount_micro: number | bigint | null;
  readonly amount_exact: string | null;
  /** When a hold ends; null of what is not held. */
  readonly held_to: string | null;
}

/** Retirements of all months and beneficiaries, and by what became of their certificates. */
export function readReckonings({ db }: Reader, { organizationId }: Whose): AsyncIterable<Reckoning> {
  const asked = db
    .selectFrom('balance_retirements')
    .selectAll()
    .orderBy('organization_id')
    .orderBy('reckoning')
    .orderBy('value');
  return (organizationId === null ? asked : asked.where('organization_id', '=', organizationId)).stream(
    AT_ONCE,
  );
}

/** Of all organizations together: what left one may stand in another. */
export async function readProjectBalances({ db }: Reader): Promise<ProjectBalance[]> {
  const asked = db.selectFrom('balance_projects').selectAll();
  return await asked.orderBy('project_id').orderBy('vintage').execute();
}

export async function readSerialBalances({ db }: Reader): Promise<SerialBalance[]> {
  return await db.selectFrom('balance_serials').selectAll().orderBy('serialization').execute();
}

/** Whose three lists of credits were read completely, and from when on they are known. */
export async function readJudged({ db }: Reader) {
  return await db
    .selectFrom('resource_states')
    .where('resource', 'in', STOCK_LISTS)
    .where('first_complete_at', 'is not', null)
    .groupBy('organization_id')
    .having(eb => eb.fn.countAll(), '=', STOCK_LISTS.length)
    .select(eb => ['organization_id', eb.fn.max('first_complete_at').$notNull().as('since')])
    .orderBy('organization_id')
    .execute();
}

export const STOCK_LISTS = ['warehouse', 'inventory', 'reservations'];

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

/** All that stood in warehouses, inventories and holds at an instant; null: when each list had first been read completely. */
export async function* readStockAt(reader: Reader, asked: Period, at: string | null) {
  yield* readCreditsAt(reader, 'warehouse', { ...asked, at });
  yield* readCreditsAt(reader, 'inventory', { ...asked, at });
  yield* readHeldAt(reader, { ...asked, at });
}

interface At extends Period {
  readonly at: string | null;
}

/** Lists that had been read completely by the end, each at the instant or, where it was not known then, at its opening. */
function known({ db }: Reader, resource: string, { organizationId, to, at }: At) {
  const lists = db
    .selectFrom('resource_states')
    .where('resource', '=', resource)
    .where('first_complete_at', '<=', to)
    .select('organization_id')
    .select(eb => {
      const opened = eb.ref('first_complete_at').$notNull();
      if (at === null) return opened.as('at');
      return eb.case().when('first_complete_at', '>', at).then(opened).else(at).end().as('at');
    });
  return organizationId === null ? lists : lists.where('organization_id', '=', organizationId);
}

async function* readCreditsAt(
  reader: Reader,
  place: 'warehouse' | 'inventory',
  asked: At,
): AsyncGenerator<Stock> {
  const rows = reader.db
    .selectFrom(`${place}_credits_history as h`)
    .innerJoin(known(reader, place, asked).as('k'), 'k.organization_id', 'h.organization_id')
    .select(['h.organization_id', 'h.credit_id', 'h.inventory_id as part', 'h.project_id', 'h.vintage'])
    .select(['h.serialization', 'h.type', 'h.amount_micro', 'h.amount_exact'])
    .where(eb => stoodAt(eb.ref('k.at'), 'h'))
    .orderBy('h.organization_id')
    .orderBy('h.credit_id')
    .orderBy('h.inventory_id')
    .stream(AT_ONCE);
  for await (const row of rows) yield { place, ...row, held_to: null };
}

const OVER = ['finished', 'cancelled', 'expired'];

/** The vintage of a hold is the year that ends its serialization. */
async function* readHeldAt(reader: Reader, asked: At): AsyncGenerator<Stock> {
  const rows = reader.db
    .selectFrom('reservations_history as h')
    .innerJoin(known(reader, 'reservations', asked).as('k'), 'k.organization_id', 'h.organization_id')
    .select(['h.organization_id', 'h.credit_id', 'h.id as part', 'h.project_id', 'h.serialization', 'h.type'])
    .select(['h.amount_micro', 'h.amount_exact', 'h.reserved_to_at as held_to'])
    .where(eb => eb(eb.fn.coalesce('h.is_complete', eb.lit(0)), '=', 0))
    .where(eb => eb(eb.fn<string>('lower', [eb.fn.coalesce('h.state', eb.val(''))]), 'not in', OVER))
    .where(eb => stoodAt(eb.ref('k.at'), 'h'))
    .orderBy('h.organization_id')
    .orderBy('h.credit_id')
    .orderBy('h.id')
    .stream(AT_ONCE);
  for await (const row of rows) yield { place: 'held', ...row, vintage: yearOf(row.serialization) };
}

function yearOf(serialization: string | null): string | null {
  return /-(\d{4})$/.exec(serialization ?? '')?.[1] ?? null;
}

interface Period extends Whose {
  /** Null from the first read on; what was learnt after it. */
  readonly from: string | null;
  /** What was learnt by then. */
  readonly to: string;
}

/** In the order of their numbers. */
export function readMoves({ db }: Reader, { organizationId, from, to }: Period): AsyncIterable<Move> {
  let asked = db.selectFrom('credit_moves').selectAll().where('learnt_at', '<=', to);
  if (from !== null) asked = asked.where('learnt_at', '>', from);
  if (organizationId !== null) asked = asked.where('organization_id', '=', organizationId);
  return asked.orderBy('number').stream(AT_ONCE);
}

/** What took credits out for good, and the two instants of it that lie in a stretch of time. */
const TAKEN_OUT = {
  /** As the registry dates them, whoever made them. */
  retirements: ['created_at', 'created_at'],
  /** By own reservations and requests. */
  credit_uses: ['begun_at', 'ended_at'],
} as const;

/** Begun after `from` and ended by `to`. */
export function readTakenOut({ db }: Reader, table: keyof typeof TAKEN_OUT, from: string, to: string) {
  const [begun, ended] = TAKEN_OUT[table];
  return db
    .selectFrom(table)
    .select(['organization_id', 'project_id', 'vintage', 'amount_micro'])
    .where(begun, '>', from)
    .where(ended, '<=', to)
    .orderBy('organization_id')
    .orderBy('id')
    .stream(AT_ONCE);
}

/** Retirements whose amount is none that can be added: all, or those of a year. */
export async function countNotSummed(
  { db }: Reader,
  { organizationId, year }: { readonly organizationId: string | null; readonly year: string | null },
): Promise<number> {
  let asked = db.selectFrom('retirements').where('amount_micro', 'is', null);
  if (organizationId !== null) asked = asked.where('organization_id', '=', organizationId);
  if (year !== null) {
    asked = asked
      .where('created_at', '>=', `${year}-01-01T00:00:00.000Z`)
      .where('created_at', '<=', `${year}-12-31T23:59:59.999Z`);
  }
  return await count(asked);
}
