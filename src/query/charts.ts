import type { Reader, Statement } from '../store/contract/reader.js';
import { joined, only, plain, sql } from './sql.js';
import { ADDED, type Added, exact } from './sums.js';

/** Millionths of a tonne of one type at the end of each day, or in each month. */
export interface Series {
  readonly type: string | null;
  readonly points: readonly { readonly name: string; readonly micro: bigint }[];
}

export type Charts = Awaited<ReturnType<typeof readCharts>>;

export async function readCharts(reader: Reader, now: number) {
  return { stock: await readStockByDay(reader, now), retired: await readRetiredByMonth(reader, now) };
}

const DAY_MS = 86_400_000;
const DAYS = 30;
const MONTHS = 12;

interface Stood extends Added {
  readonly type: string | null;
  /** The first day at whose end it had come, and at whose end it had gone; after the last where it has not. */
  readonly came: number;
  readonly went: number;
}

/** What stood in the warehouses at the end of each of the last days, from the first that the mirror knows; the last is now. */
async function readStockByDay({ all }: Reader, now: number): Promise<Series[]> {
  const days = Array.from({ length: DAYS }, (_, ago) => dayOf(now - (DAYS - 1 - ago) * DAY_MS));
  const dayIn = (instant: Statement) => {
    const ends = days.map(
      (day, place) => sql`WHEN ${instant} <= ${`${day}T23:59:59.999Z`} THEN ${plain(String(place))}`,
    );
    return sql`CASE ${joined(ends, ' ')} ELSE ${plain(String(DAYS))} END`;
  };
  const found = await all(sql<Stood>`SELECT type, came, went, ${ADDED}
    FROM (SELECT type, amount_micro, ${dayIn(plain('valid_from'))} AS came, ${dayIn(plain('valid_to'))} AS went
      FROM mirror.warehouse_credits_history
      WHERE valid_to IS NULL OR valid_to >= ${`${days[0]}T00:00:00.000Z`}) AS v
    GROUP BY type, came, went ORDER BY type NULLS FIRST`);
  const sums = found.map(exact);
  const first = Math.min(...sums.map(({ came }) => came));
  return [...new Set(sums.map(({ type }) => type))].map(type => {
    const points = days.map((name, place) => {
      const stood = sums.filter(each => each.type === type && each.came <= place && place < each.went);
      return { name, micro: stood.reduce((micro, each) => micro + each.amount_micro, 0n) };
    });
    return { type, points: points.slice(first) };
  });
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/** What was retired in each of twelve months, by the dates of the registry; the last goes on. */
async function readRetiredByMonth(reader: Reader, now: number): Promise<Series['points']> {
  const points: { name: string; micro: bigint }[] = [];
  for (let ago = MONTHS - 1; ago >= 0; ago -= 1) {
    const [from, to] = [monthAgo(now, ago), monthAgo(now, ago - 1)];
    const sum = sql<Added>`SELECT ${ADDED} FROM mirror.retirements
      WHERE organization_id IN (SELECT organization_id FROM mirror.resource_states)
        AND created_at >= ${`${from}-01T00:00:00.000Z`} AND created_at < ${`${to}-01T00:00:00.000Z`}`;
    points.push({ name: from, micro: exact(await only(reader, sum)).amount_micro });
  }
  return points;
}

function monthAgo(now: number, ago: number): string {
  const then = new Date(now);
  return new Date(Date.UTC(then.getUTCFullYear(), then.getUTCMonth() - ago, 1))
    .toISOString()
    .slice(0, 'YYYY-MM'.length);
}
