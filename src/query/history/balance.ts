import { AT_ONCE, type Reader } from '../../store/contract/reader.js';
import { amountOf } from '../../registry/json/amount.js';
import { tonnesOf } from '../../text/tonnes.js';
import { byName, stoodAt } from '../by-name.js';
import { count } from '../count.js';
import { countKnown, countKnownAt } from '../coverage.js';
import { readOrganizationNames } from '../names.js';

export interface BalanceAsked {
  /** Null for all of them. */
  readonly organizationId: string | null;
  readonly year: string | null;
  /** What was observed after it; null from the first read on. */
  readonly from: string | null;
  /** What was observed by then. */
  readonly to: string;
  /** Up to this moment: then what is known of no period is compared, too. */
  readonly isNow: boolean;
}

/** One side by side of the balance, as programs take it. */
export type Line = {
  readonly identity: 'retirements' | 'credits' | 'projects' | 'serials';
  readonly organization_id: string | null;
  /** What is added up. */
  readonly what: string;
  /** Of credits: exPost or exAnte, which are never one sum. */
  readonly type: string | null;
  readonly rows: number;
  /** When the opening stood there: when the period began, or the list had first been read completely. */
  readonly opening_at: string | null;
  readonly opening_micro: bigint | null;
  /** What it was seen to rise and to fall by between reads. */
  readonly risen_micro: bigint | null;
  readonly fallen_micro: bigint | null;
  /** What is listed, and what it has to be: of projects at most that, as far as it is explained. */
  readonly found_micro: bigint | null;
  readonly expected_micro: bigint | null;
  /** What of it own reservations and requests explain, and what neither they nor a fall do. */
  readonly explained_micro: bigint | null;
  readonly unexplained_micro: bigint | null;
  /** What is found beyond what is expected; of projects what is explained and was not seen to fall. */
  readonly difference_micro: bigint | null;
  /** Null where it is not known yet. */
  readonly balanced: boolean | null;
  /** In words, where it is not balanced. */
  readonly why: string | null;
};

export type NamedLine = Line & { readonly organization_name: string | null };

/** What is compared by itself: a line of the sum that it is a part of. */
interface Entry extends Omit<Line, 'why'> {
  readonly sum: string;
  /** Rows without an amount that can be added: they are in no sum. */
  readonly notSummed: number;
  readonly why: string;
}

const NONE = {
  organization_id: null,
  type: null,
  opening_at: null,
  opening_micro: null,
  risen_micro: null,
  fallen_micro: null,
  found_micro: null,
  expected_micro: null,
  explained_micro: null,
  unexplained_micro: null,
  difference_micro: null,
  notSummed: 0,
} as const;

const MICROS = [
  'opening_micro',
  'risen_micro',
  'fallen_micro',
  'found_micro',
  'expected_micro',
  'explained_micro',
  'unexplained_micro',
  'difference_micro',
] as const;

/** What was added up, and each part of it that is not balanced: two that are wrong may hide in a sum. */
export async function readBalance(reader: Reader, asked: BalanceAsked) {
  const sums = new Map<string, Sum>();
  const unbalanced: Line[] = [];
  let left = asked.isNow || asked.year !== null ? await countNotSummed(reader, asked) : 0;
  for (const entriesOf of identitiesOf(asked)) {
    for await (const { sum: name, notSummed, ...line } of entriesOf(reader, asked)) {
      const key = JSON.stringify([line.identity, line.organization_id, name, line.type]);
      const sum = sums.get(key);
      if (sum === undefined) sums.set(key, { ...line, what: name, why: null });
      else add(sum, line);
      if (line.balanced !== true) unbalanced.push(line);
      left += notSummed;
    }
  }
  const names = new Map((await readOrganizationNames(reader)).map(({ id, name }) => [id, name]));
  const named = (line: Line): NamedLine => ({
    organization_name: names.get(line.organization_id ?? '') ?? null,
    ...line,
  });
  return {
    known: asked.isNow ? await countKnown(reader) : await countKnownAt(reader, asked.to),
    balanced: isNothingKnown(sums.values()) ? null : unbalanced.every(line => line.balanced === null),
    rowsWithoutAmount: left,
    sums: [...sums.values()].map(named),
    notBalanced: unbalanced.map(named),
  };
}

type Sum = { -readonly [Name in keyof Line]: Line[Name] };

function add(sum: Sum, line: Line): void {
  sum.rows += line.rows;
  for (const name of MICROS) {
    const micro = line[name];
    if (micro !== null) sum[name] = (sum[name] ?? 0n) + micro;
  }
  if (line.balanced !== true && sum.balanced !== false) sum.balanced = line.balanced;
}

/** Then nobody can say that it is balanced. */
function isNothingKnown(sums: Iterable<Line>): boolean {
  return [...sums].every(({ rows, opening_micro: opening }) => rows === 0 && (opening ?? 0n) === 0n);
}

type EntriesOf = (reader: Reader, asked: BalanceAsked) => AsyncIterable<Entry>;

/** Retirements are dated by the year; what left one organization may stand in another, and is known of this moment only. */
function identitiesOf({ organizationId, year, isNow }: BalanceAsked): EntriesOf[] {
  return [
    ...(isNow || year !== null ? [retirements] : []),
    credits,
    ...(isNow && organizationId === null ? [projects, serials] : []),
  ];
}

/** Of all months and beneficiaries, and by what became of their certificates; of a year its months only. */
async function* retirements({ db }: Reader, { organizationId, year }: BalanceAsked): AsyncGenerator<Entry> {
  let asked = db.selectFrom('balance_retirements').selectAll();
  if (organizationId !== null) asked = asked.where('organization_id', '=', organizationId);
  if (year !== null) {
    asked = asked.where('reckoning', '=', 'month');
    asked = asked.where('value', '>=', `${year}-01`).where('value', '<=', `${year}-12`);
  }
  const rows = asked.orderBy('organization_id').orderBy('reckoning').orderBy('value').stream(AT_ONCE);
  for await (const { organization_id, reckoning, value, rows: listed, ...row } of rows) {
    const [found, expected] = [microOf(row.amount_micro), microOf(row.counted_micro)];
    yield {
      ...NONE,
      identity: 'retirements',
      sum: `by ${reckoning}`,
      organization_id,
      what: `${reckoning} ${value === '' ? 'of none' : value}`,
      rows: listed,
      found_micro: found,
      expected_micro: expected,
      difference_micro: found - expected,
      balanced: row.balanced === 1,
      why: `${listed} listed with ${tonnesOf(found)} t, ${row.counted_rows} counted with ${tonnesOf(expected)} t`,
    };
  }
}

/** Per credit and place: what stood there, and what it was seen to move by, is what stands there. */
async function* credits(reader: Reader, asked: BalanceAsked): AsyncGenerator<Entry> {
  const openings = await readOpenings(reader);
  const accounts = new Map<string, Account>();
  for await (const row of readCredits(reader, asked)) {
    const { place, organization_id, credit_id, part, type, side, micro } = row;
    const key = JSON.stringify([place, organization_id, credit_id, part]);
    const account = accounts.get(key) ?? { place, organization_id, credit_id, type, ...EMPTY };
    accounts.set(key, account);
    if (micro === null) account.notSummed += side === 'listed' ? 1 : 0;
    else if (side !== 'moved') account[side] += micro;
    else if (micro > 0n) account.risen += micro;
    else account.fallen -= micro;
  }
  for (const { place, organization_id, credit_id, type, ...account } of accounts.values()) {
    const { opening, risen, fallen, listed, notSummed } = account;
    const opened = openings.get(`${PLACES[place].resource} ${organization_id}`) ?? '';
    const expected = opening + risen - fallen;
    const moved = `seen to rise by ${tonnesOf(risen)} t and to fall by ${tonnesOf(fallen)} t`;
    yield {
      ...NONE,
      identity: 'credits',
      sum: place,
      organization_id,
      what: `${place} ${credit_id}`,
      type,
      rows: 1,
      notSummed,
      opening_at: asked.from === null || opened > asked.from ? opened : asked.from,
      opening_micro: opening,
      risen_micro: risen,
      fallen_micro: fallen,
      found_micro: listed,
      expected_micro: expected,
      difference_micro: listed - expected,
      balanced: expected === listed,
      why: `${tonnesOf(opening)} t, ${moved}, and listed with ${tonnesOf(listed)} t`,
    };
  }
}

type Account = Pick<CreditRow, 'place' | 'organization_id' | 'credit_id' | 'type'> & typeof EMPTY;

const EMPTY = { opening: 0n, risen: 0n, fallen: 0n, listed: 0n, notSummed: 0 };

/** What a credit had in one place at the opening, moved by since, or is listed with at the end. */
interface CreditRow {
  readonly side: 'opening' | 'moved' | 'listed';
  readonly place: keyof typeof PLACES;
  readonly organization_id: string;
  readonly credit_id: string;
  readonly part: string;
  readonly type: string | null;
  readonly micro: bigint | null;
}

const PLACES = {
  warehouse: { resource: 'warehouse', table: 'warehouse_credits', part: 'inventory_id' },
  inventory: { resource: 'inventory', table: 'inventory_credits', part: 'inventory_id' },
  reserved: { resource: 'reservations', table: 'reservations', part: 'id' },
} as const;

const IN_PLACES = ['warehouse', 'inventory', 'reserved'] as const;

async function* readCredits(reader: Reader, asked: BalanceAsked): AsyncGenerator<CreditRow> {
  for (const place of IN_PLACES) yield* readStock(reader, place, 'opening', asked);
  const { organizationId, from, to } = asked;
  let moves = reader.db.selectFrom('credit_moves').where('observed_at', '<=', to);
  if (from !== null) moves = moves.where('observed_at', '>', from);
  if (organizationId !== null) moves = moves.where('organization_id', '=', organizationId);
  const rows = moves
    .select(['place', 'organization_id', 'credit_id', 'part', 'type', 'moved_micro'])
    .orderBy('number')
    .stream(AT_ONCE);
  for await (const { moved_micro: moved, ...row } of rows)
    yield { side: 'moved', ...row, micro: microOf(moved) };
  for (const place of IN_PLACES) yield* readStock(reader, place, 'listed', asked);
}

const OVER = ['finished', 'cancelled', 'expired'];

interface Stock extends Pick<CreditRow, 'organization_id' | 'credit_id' | 'part' | 'type'> {
  readonly amount_micro: number | bigint | null;
  readonly amount_exact: string | null;
  readonly valid_from: string;
  readonly valid_to: string | null;
}

/** Of lists that had been read completely by the end; of one that was not known at the opening what it first showed. */
async function* readStock(
  reader: Reader,
  place: CreditRow['place'],
  side: 'opening' | 'listed',
  { organizationId, from, to }: BalanceAsked,
): AsyncGenerator<CreditRow> {
  const { resource, table, part } = PLACES[place];
  const at = side === 'opening' ? from : to;
  let known = reader.db
    .selectFrom('resource_states')
    .where('resource', '=', resource)
    .where('first_complete_at', '<=', to)
    .select('organization_id')
    .select(eb => {
      const opened = eb.ref('first_complete_at').$notNull();
      if (at === null) return opened.as('at');
      return eb.case().when('first_complete_at', '>', at).then(opened).else(at).end().as('at');
    });
  if (organizationId !== null) known = known.where('organization_id', '=', organizationId);
  let stood = byName(reader).selectFrom(`${table}_history`);
  if (place === 'reserved') {
    stood = stood
      .where(eb => eb(eb.fn.coalesce('is_complete', eb.lit(0)), '=', 0))
      .where(eb => eb(eb.fn<string>('lower', [eb.fn.coalesce('state', eb.val(''))]), 'not in', OVER));
  }
  const stock = stood
    .select(['organization_id', 'credit_id', `${part} as part`, 'type'])
    .select(['amount_micro', 'amount_exact', 'valid_from', 'valid_to'])
    .$castTo<Stock>();
  const rows = reader.db
    .selectFrom(stock.as('h'))
    .innerJoin(known.as('k'), 'k.organization_id', 'h.organization_id')
    .select(['h.organization_id', 'h.credit_id', 'h.part', 'h.type', 'h.amount_micro', 'h.amount_exact'])
    .where(eb => stoodAt(eb.ref('k.at'), 'h'))
    .orderBy('h.organization_id')
    .orderBy('h.credit_id')
    .orderBy('h.part')
    .stream(AT_ONCE);
  for await (const { amount_micro: micro, amount_exact: exact, ...row } of rows) {
    const digits = side === 'opening' || exact === null ? null : amountOf(exact).micro;
    yield { side, place, ...row, micro: micro === null ? null : (digits ?? BigInt(micro)) };
  }
}

/** Of all organizations together. */
async function* projects({ db }: Reader): AsyncGenerator<Entry> {
  const rows = db.selectFrom('balance_projects').selectAll().orderBy('project_id').orderBy('vintage');
  for await (const row of rows.stream(AT_ONCE)) {
    const what = `${row.project_name ?? row.project_id} ${row.vintage}`;
    const [explained, risen] = [microOf(row.explained_micro), microOf(row.risen_micro)];
    const fell = microOf(row.fall_micro) + risen;
    const unread = row.balanced === null ? '; a list was not read since the last rise' : '';
    yield {
      ...NONE,
      identity: 'projects',
      sum: what,
      what,
      rows: row.retirements,
      opening_at: row.begun_at,
      opening_micro: microOf(row.opening_micro),
      risen_micro: risen,
      fallen_micro: microOf(row.fallen_micro),
      found_micro: microOf(row.retired_micro),
      expected_micro: fell,
      explained_micro: explained,
      unexplained_micro: microOf(row.unexplained_micro),
      difference_micro: microOf(row.difference_micro),
      balanced: row.balanced === null ? null : row.balanced === 1,
      why: `${tonnesOf(explained)} t retired by reservations and requests, and seen to fall by ${tonnesOf(fell)} t in all${unread}`,
    };
  }
}

async function* serials({ db }: Reader): AsyncGenerator<Entry> {
  const rows = db.selectFrom('balance_serials').selectAll().orderBy('serialization').stream(AT_ONCE);
  for await (const { serialization, credit_id: one, other_credit_id: other, balanced } of rows) {
    yield {
      ...NONE,
      identity: 'serials',
      sum: 'serializations that stand for one credit each',
      what: serialization,
      rows: 1,
      balanced: balanced === 1,
      why: `stands for ${one} and for ${other}`,
    };
  }
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

/** Retirements whose amount is none that can be added: all, or those of a year. */
async function countNotSummed({ db }: Reader, { organizationId, year }: BalanceAsked): Promise<number> {
  let asked = db.selectFrom('retirements').where('amount_micro', 'is', null);
  if (organizationId !== null) asked = asked.where('organization_id', '=', organizationId);
  if (year !== null) {
    asked = asked
      .where('created_at', '>=', `${year}-01-01T00:00:00.000Z`)
      .where('created_at', '<=', `${year}-12-31T23:59:59.999Z`);
  }
  return await count(asked);
}

function microOf(value: number | bigint | null): bigint {
  return BigInt(value ?? 0);
}
