import { AT_ONCE, type Reader } from '../store/contract/reader.js';

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

/** What stood in the warehouses at the end of each of the last days, from the first that the mirror knows; the last is now. */
async function readStockByDay({ db }: Reader, now: number): Promise<Series[]> {
  const ends = Array.from({ length: DAYS }, (_, ago) => dayOf(now - (DAYS - 1 - ago) * DAY_MS));
  const moves = new Map<string | null, bigint[]>();
  let first = DAYS;
  const versions = db
    .selectFrom('warehouse_credits_history')
    .select(['type', 'amount_micro', 'valid_from', 'valid_to'])
    .where(eb => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>=', `${ends[0]}T00:00:00.000Z`)]))
    .stream(AT_ONCE);
  for await (const { type, amount_micro: micro, valid_from: from, valid_to: to } of versions) {
    const days = moves.get(type) ?? Array.from({ length: DAYS + 1 }, () => 0n);
    moves.set(type, days);
    const begin = placeOf(ends, from);
    first = Math.min(first, begin);
    days[begin] = (days[begin] ?? 0n) + BigInt(micro ?? 0);
    const end = to === null ? DAYS : placeOf(ends, to);
    days[end] = (days[end] ?? 0n) - BigInt(micro ?? 0);
  }
  return [...moves].map(([type, days]) => {
    let micro = 0n;
    const points = ends.map((name, place) => ({ name, micro: (micro += days[place] ?? 0n) }));
    return { type, points: points.slice(first) };
  });
}

/** The first day at whose end it had happened. */
function placeOf(ends: readonly string[], instant: string): number {
  const place = ends.findIndex(end => instant.slice(0, end.length) <= end);
  return place === -1 ? ends.length : place;
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/** What was retired in each of twelve months, by the dates of the registry; the last is that of the newest retirement. */
async function readRetiredByMonth({ db }: Reader, now: number): Promise<Series['points']> {
  const points: { name: string; micro: bigint }[] = [];
  const last = Math.min(now, Date.parse((await readNewestRetirement({ db })) ?? '') || now);
  for (let ago = MONTHS - 1; ago >= 0; ago -= 1) {
    const [from, to] = [monthAgo(last, ago), monthAgo(last, ago - 1)];
    const { tonnes, rest } = await db
      .selectFrom('retirements')
      .where('organization_id', 'in', eb => eb.selectFrom('resource_states').select('organization_id'))
      .where('created_at', '>=', `${from}-01T00:00:00.000Z`)
      .where('created_at', '<', `${to}-01T00:00:00.000Z`)
      .select(eb => [
        eb.fn.sum<number | null>(eb('amount_micro', '/', eb.lit(MICRO))).as('tonnes'),
        eb.fn.sum<number | null>(eb('amount_micro', '%', eb.lit(MICRO))).as('rest'),
      ])
      .executeTakeFirstOrThrow();
    points.push({ name: from, micro: BigInt(tonnes ?? 0) * BigInt(MICRO) + BigInt(rest ?? 0) });
  }
  return points;
}

/** One look an organization: each has its newest at the end of an index. */
async function readNewestRetirement({ db }: Pick<Reader, 'db'>): Promise<string | null> {
  const newest = db
    .selectFrom('resource_states as s')
    .where('s.resource', '=', 'retirements')
    .select(eb =>
      eb
        .selectFrom('retirements as r')
        .select(r => r.fn.max('r.created_at').as('at'))
        .whereRef('r.organization_id', '=', 's.organization_id')
        .as('at'),
    );
  const { at } = await db
    .selectFrom(newest.as('newest'))
    .select(eb => eb.fn.max<string | null>('at').as('at'))
    .executeTakeFirstOrThrow();
  return at;
}

/** Whole tonnes and the millionths beyond are added each by itself: no sum of them overflows. */
const MICRO = 1_000_000;

function monthAgo(now: number, ago: number): string {
  const then = new Date(now);
  return new Date(Date.UTC(then.getUTCFullYear(), then.getUTCMonth() - ago, 1))
    .toISOString()
    .slice(0, 'YYYY-MM'.length);
}
