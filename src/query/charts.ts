import type { Reader, Statement } from '../store/contract/reader.js';
import { selectInstalled, readListCoverage } from './coverage.js';
import { joined, plain, sql } from './sql.js';
import { exact, type Total, TOTAL } from './sums.js';

/** Millionths of a tonne at the end of a day, or in a month, and how many rows are in no sum. */
export interface ChartPoint {
  readonly name: string;
  readonly micro: bigint;
  readonly rows_without_amount: number;
}

/** Of one type. */
export interface Series {
  readonly type: string | null;
  readonly points: readonly ChartPoint[];
}

export type Charts = Awaited<ReturnType<typeof readCharts>>;

/** Stock and retirements of the organizations that have the app, and how many of them each covers. */
export async function readCharts(reader: Reader, now: number) {
  return await reader.inSnapshot(async snapshot => ({
    stock: await readStockByDay(snapshot, now),
    stockCoverage: await readListCoverage(snapshot, 'warehouse'),
    retired: await readRetiredByMonth(snapshot, now),
    retiredCoverage: await readListCoverage(snapshot, 'retirements'),
  }));
}

const DAY_MS = 86_400_000;
const DAYS = 30;
const MONTHS = 12;

interface Stood extends Total {
  readonly type: string | null;
  /** The first day at whose end it had come, and at whose end it had gone; after the last where it has not. */
  readonly came: number;
  readonly went: number;
}

/** What stood in the warehouses at the end of each of the last days, from the first that the mirror knows; the last is now. */
async function readStockByDay({ all }: Reader, now: number): Promise<Series[]> {
  const days = Array.from({ length: DAYS }, (_, ago) => dayOf(now - (DAYS - 1 - ago) * DAY_MS));
  const nights = days.map(day => `${day}T23:59:59.999Z`);
  const dayIn = (column: string) => placeIn(nights, plain(`${column} <=`));
  const found = await all(sql<Stood>`SELECT type, came, went, ${TOTAL}
    FROM (SELECT type, amount_micro, ${dayIn('valid_from')} AS came, ${dayIn('valid_to')} AS went
      FROM mirror.warehouse_credits_history
      WHERE (valid_to IS NULL OR valid_to >= ${`${days[0]}T00:00:00.000Z`})
        AND organization_id IN ${selectInstalled('warehouse')}) AS v
    GROUP BY type, came, went ORDER BY type NULLS FIRST`);
  const sums = found.map(exact);
  const first = Math.min(...sums.map(({ came }) => came));
  return [...new Set(sums.map(({ type }) => type))].map(type => {
    const points = days.map((name, place) => {
      const stood = sums.filter(each => each.type === type && each.came <= place && place < each.went);
      return pointOf(name, stood);
    });
    return { type, points: points.slice(first) };
  });
}

function pointOf(name: string, sums: readonly ReturnType<typeof exact<Total>>[]): ChartPoint {
  return {
    name,
    micro: sums.reduce((micro, each) => micro + each.amount_micro, 0n),
    rows_without_amount: sums.reduce((left, each) => left + each.rows_without_amount, 0),
  };
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/** What was retired in each of twelve months, by the dates of the registry; the last goes on. */
async function readRetiredByMonth(reader: Reader, now: number): Promise<ChartPoint[]> {
  const months = Array.from({ length: MONTHS + 1 }, (_, place) => monthAgo(now, MONTHS - 1 - place));
  const [first, ...ends] = months.map(month => `${month}-01T00:00:00.000Z`);
  const sums = await reader.all(sql<Total & { readonly place: number }>`SELECT
      ${placeIn(ends, plain('created_at <'))} AS place, ${TOTAL} FROM mirror.retirements
    WHERE organization_id IN ${selectInstalled('retirements')}
      AND created_at >= ${first ?? ''} AND created_at < ${ends.at(-1) ?? ''} GROUP BY place`);
  const retired = sums.map(exact);
  return months.slice(0, MONTHS).map((name, month) =>
    pointOf(
      name,
      retired.filter(({ place }) => place === month),
    ),
  );
}

/** Before which of these ends an instant came first; after the last where before none. */
function placeIn(ends: readonly string[], isBefore: Statement): Statement {
  const places = ends.map((end, place) => sql`WHEN ${isBefore} ${end} THEN ${plain(String(place))}`);
  return sql`CASE ${joined(places, ' ')} ELSE ${plain(String(ends.length))} END`;
}

function monthAgo(now: number, ago: number): string {
  const then = new Date(now);
  return new Date(Date.UTC(then.getUTCFullYear(), then.getUTCMonth() - ago, 1))
    .toISOString()
    .slice(0, 'YYYY-MM'.length);
}
