import type { ExpressionBuilder, ExpressionWrapper } from 'kysely';
import type { Reader } from '../store/contract/reader.js';
import type { Tables } from '../store/contract/tables.js';
import { NULLS_FIRST } from './sql.js';
import { added, exact } from './sums.js';

/** Millionths of a tonne of one type at the end of each day, or in each month. */
export interface Series {
  readonly type: string | null;
  readonly points: readonly { readonly name: string; readonly micro: bigint }[];
}

export type Charts = Awaited<ReturnType<typeof readCharts>>;

export async function readCharts(reader: Reader, now: number) {
  return { stock: await readStockByDay(reader, now), retired: await readRetiredByMonth(reader, now) };
}

type History = ExpressionBuilder<Tables, 'warehouse_credits_history'>;

const DAY_MS = 86_400_000;
const DAYS = 30;
const MONTHS = 12;

/** What stood in the warehouses at the end of each of the last days, from the first that the mirror knows; the last is now. */
async function readStockByDay({ db }: Reader, now: number): Promise<Series[]> {
  const ends = Array.from({ length: DAYS }, (_, ago) => dayOf(now - (DAYS - 1 - ago) * DAY_MS));
  const versions = db
    .selectFrom('warehouse_credits_history')
    .where(eb => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>=', `${ends[0]}T00:00:00.000Z`)]))
    .select(eb => [
      'type',
      'amount_micro',
      placeOf(eb, ends, 'valid_from').as('begin'),
      placeOf(eb, ends, 'valid_to').as('end'),
    ]);
  const found = await db
    .selectFrom(versions.as('v'))
    .groupBy(['type', 'begin', 'end'])
    .orderBy('type', NULLS_FIRST)
    .select(eb => ['type', 'begin', 'end', ...added(eb, 'amount_micro')])
    .execute();
  const sums = found.map(exact);
  const first = Math.min(...sums.map(({ begin }) => begin));
  const stood = (type: string | null, place: number) =>
    sums.filter(each => each.type === type && each.begin <= place && place < each.end);
  return [...new Set(sums.map(({ type }) => type))].map(type => {
    const points = ends.map((name, place) => ({ name, micro: total(stood(type, place)) }));
    return { type, points: points.slice(first) };
  });
}

/** The first day at whose end it had happened; after the last where it has not. */
function placeOf(eb: History, ends: readonly string[], instant: 'valid_from' | 'valid_to') {
  return ends.reduceRight<ExpressionWrapper<Tables, 'warehouse_credits_history', number>>(
    (later, end, place) => {
      return eb.case().when(instant, '<=', `${end}T23:59:59.999Z`).then(eb.lit(place)).else(later).end();
    },
    eb.lit(DAYS),
  );
}

function total(sums: readonly { readonly amount_micro: bigint }[]): bigint {
  return sums.reduce((all, { amount_micro: micro }) => all + micro, 0n);
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/** What was retired in each of twelve months, by the dates of the registry; the last goes on. */
async function readRetiredByMonth({ db }: Reader, now: number): Promise<Series['points']> {
  const points: { name: string; micro: bigint }[] = [];
  for (let ago = MONTHS - 1; ago >= 0; ago -= 1) {
    const [from, to] = [monthAgo(now, ago), monthAgo(now, ago - 1)];
    const sum = await db
      .selectFrom('retirements')
      .where('organization_id', 'in', eb => eb.selectFrom('resource_states').select('organization_id'))
      .where('created_at', '>=', `${from}-01T00:00:00.000Z`)
      .where('created_at', '<', `${to}-01T00:00:00.000Z`)
      .select(eb => added(eb, 'amount_micro'))
      .executeTakeFirstOrThrow();
    points.push({ name: from, micro: exact(sum).amount_micro });
  }
  return points;
}

function monthAgo(now: number, ago: number): string {
  const then = new Date(now);
  return new Date(Date.UTC(then.getUTCFullYear(), then.getUTCMonth() - ago, 1))
    .toISOString()
    .slice(0, 'YYYY-MM'.length);
}
