import { type Expression, sql } from 'kysely';
import type { Reader } from '../store/contract/reader.js';
import { queryBuilder } from '../store/sql/builder.js';
import { readListNotes, selectInstalledAndRead } from './coverage.js';
import { TOTAL_COLUMNS, toExactSum, type Total } from './sums.js';

/** The amount at the end of a day, or in a month, in millionths of a tonne. */
export interface AmountPoint {
  /** The day or the month. */
  readonly name: string;
  readonly micro: bigint;
  readonly rows_without_amount: number;
}

/** The points of one credit type. */
export interface Series {
  readonly type: string | null;
  readonly points: readonly AmountPoint[];
}

export type Charts = Awaited<ReturnType<typeof readCharts>>;

/**
 * Reads the stock by day and the retirements by month, over all organizations that have the app. The notes say how complete each
 * chart is.
 */
export async function readCharts(reader: Reader, now: number) {
  return await reader.inSnapshot(async snapshot => ({
    stock: await readStockByDay(snapshot, now),
    stockNotes: await readListNotes(snapshot, 'warehouse'),
    retired: await readRetiredByMonth(snapshot, now),
    retiredNotes: await readListNotes(snapshot, 'retirements'),
  }));
}

const DAY_MS = 86_400_000;
const DAYS = 30;
const MONTHS = 12;

/** Reads the stock of the warehouses at the end of each of the last 30 days. The last value is the current stock. */
async function readStockByDay({ all }: Reader, now: number): Promise<Series[]> {
  const days = Array.from({ length: DAYS }, (_, ago) => formatDay(now - (DAYS - 1 - ago) * DAY_MS));
  const dayEnds = days.map(day => `${day}T23:59:59.999Z`);
  const findDay = (column: 'valid_from' | 'valid_to') =>
    buildFirstIndex(dayEnds, end => sql`${sql.ref(column)} <= ${end}`);
  const versions = queryBuilder
    .selectFrom('mirror.warehouse_credits_history')
    .select(['type', 'amount_micro'])
    // A version counts from the day on whose end it was valid until the day before it had ended.
    .select([findDay('valid_from').as('first_day'), findDay('valid_to').as('end_day')])
    .where(eb => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>=', `${days[0]}T00:00:00.000Z`)]))
    .where('organization_id', 'in', selectInstalledAndRead('warehouse'));
  const rows = await all(
    queryBuilder
      .selectFrom(versions.as('versions'))
      .select(['type', 'first_day', 'end_day'])
      .select(TOTAL_COLUMNS)
      .groupBy(['type', 'first_day', 'end_day'])
      .orderBy('type', order => order.asc().nullsFirst()),
  );
  const sums = rows.map(toExactSum);
  const firstKnownDay = Math.min(...sums.map(sum => sum.first_day));
  return [...new Set(sums.map(({ type }) => type))].map(type => {
    const ofType = sums.filter(sum => sum.type === type);
    const points = days.map((name, day) =>
      sumToPoint(
        name,
        ofType.filter(sum => sum.first_day <= day && day < sum.end_day),
      ),
    );
    return { type, points: points.slice(firstKnownDay) };
  });
}

/** Adds up sums to one point of a chart. */
function sumToPoint(name: string, sums: readonly ReturnType<typeof toExactSum<Total>>[]): AmountPoint {
  return {
    name,
    micro: sums.reduce((micro, sum) => micro + sum.amount_micro, 0n),
    rows_without_amount: sums.reduce((count, sum) => count + sum.rows_without_amount, 0),
  };
}

function formatDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/** Reads how much was retired in each of the last twelve months, by the dates of the registry. The last month is not over. */
async function readRetiredByMonth({ all }: Reader, now: number): Promise<AmountPoint[]> {
  const months = Array.from({ length: MONTHS + 1 }, (_, index) => formatMonth(now, MONTHS - 1 - index));
  const [first = '', ...ends] = months.map(month => `${month}-01T00:00:00.000Z`);
  const rows = await all(
    queryBuilder
      .selectFrom('mirror.retirements')
      .select(buildFirstIndex(ends, end => sql`created_at < ${end}`).as('month'))
      .select(TOTAL_COLUMNS)
      .where('organization_id', 'in', selectInstalledAndRead('retirements'))
      .where('created_at', '>=', first)
      .where('created_at', '<', ends.at(-1) ?? '')
      .groupBy('month'),
  );
  const sums = rows.map(toExactSum);
  return months.slice(0, MONTHS).map((name, index) =>
    sumToPoint(
      name,
      sums.filter(({ month }) => month === index),
    ),
  );
}

/**
 * Returns SQL for the index of the first value whose condition is true. `isFulfilledBy` returns the SQL condition of a value. If no
 * condition is true, the SQL returns the number of values.
 */
function buildFirstIndex(values: readonly string[], isFulfilledBy: (value: string) => Expression<unknown>) {
  const cases = values.map((value, index) => sql`WHEN ${isFulfilledBy(value)} THEN ${sql.lit(index)}`);
  return sql<number>`CASE ${sql.join(cases, sql` `)} ELSE ${sql.lit(values.length)} END`;
}

/** Formats the month that was `monthsAgo` months before `now`, such as `2025-11`. */
function formatMonth(now: number, monthsAgo: number): string {
  const date = new Date(now);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - monthsAgo, 1))
    .toISOString()
    .slice(0, 'YYYY-MM'.length);
}
