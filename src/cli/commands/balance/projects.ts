import { tonnesOf } from '../../../text/tonnes.js';
import type { Move, ProjectBalance, SerialBalance, Stock } from '../../../query/past/balance.js';
import { EMPTY, flagOf, type Line, microOf, type Part } from './line.js';

interface Retired {
  readonly project_id: string | null;
  readonly vintage: string | null;
  readonly amount_micro: number | bigint | null;
}

export interface ProjectParts {
  readonly from: string;
  readonly to: string;
  /** Start of the oldest last read of a list of credits by the end. */
  readonly settledAt: string;
  readonly opening: AsyncIterable<Stock>;
  readonly moves: AsyncIterable<Move>;
  readonly closing: AsyncIterable<Stock>;
  readonly retired: AsyncIterable<Retired>;
  readonly used: AsyncIterable<Retired>;
}

interface Account {
  readonly what: string;
  opening: bigint;
  closing: bigint;
  /** What warehouses and inventories rose by of what stood somewhere at the start. */
  rose: bigint;
  used: bigint;
  /** Of what stood there at the start, what is left. */
  left: bigint;
  risen: bigint;
  fallen: bigint;
  /** What new credits fell by. */
  fallenNew: bigint;
  retired: bigint;
  retirements: number;
  roseAt: string;
}

/** Since the first reads, as the view says it. */
export function projectLine(row: ProjectBalance): Line {
  const ties = row.ties === null ? null : flagOf(row.ties === 1);
  const line = {
    what: `${row.project_name ?? row.project_id} ${row.vintage}`,
    rows: row.retirements,
    opening_at: row.begun_at,
    opening_micro: microOf(row.opening_micro),
    fallen_micro: microOf(row.fallen_micro),
    found_micro: microOf(row.retired_micro),
    expected_micro: microOf(row.fall_micro) + microOf(row.risen_micro),
    explained_micro: microOf(row.explained_micro),
    unexplained_micro: microOf(row.unexplained_micro),
    ties,
  };
  return { ...EMPTY, identity: 'projects', ...line, why: whyOf(line) };
}

/** The same of a period. */
export async function addProjects(parts: ProjectParts): Promise<Line[]> {
  const { from, to, settledAt, opening, moves, closing, retired, used } = parts;
  const accounts = new Map<string, Account>();
  const known = new Set<string>();
  for await (const row of opening) {
    if (row.type === EX_ANTE) continue;
    known.add(row.credit_id);
    if (standsAt(row, from)) accountOf(accounts, row).opening += microOf(row.amount_micro);
  }
  for await (const row of moves) {
    if (row.type !== EX_ANTE) addMove(accountOf(accounts, row), row, known.has(row.credit_id));
  }
  for await (const row of closing) {
    if (!standsAt(row, to) || row.type === EX_ANTE) continue;
    const account = accountOf(accounts, row);
    account.closing += microOf(row.amount_micro);
    if (known.has(row.credit_id)) account.left += microOf(row.amount_micro);
  }
  for await (const row of retired) {
    const account = accountOf(accounts, row);
    account.retired += microOf(row.amount_micro);
    account.retirements += 1;
  }
  for await (const row of used) accountOf(accounts, row).used += microOf(row.amount_micro);
  return [...accounts.values()].map(account => ({
    ...accountLine(account, settledAt),
    opening_at: from,
  }));
}

/** Of it nothing is retired. */
const EX_ANTE = 'exAnte';

function standsAt({ held_to: to }: Stock, at: string): boolean {
  return to === null || to > at;
}

function accountOf(accounts: Map<string, Account>, row: Pick<Retired, 'project_id' | 'vintage'>): Account {
  const what = `${row.project_id ?? 'of no project'} ${row.vintage ?? 'of no vintage'}`;
  const known = accounts.get(what);
  if (known !== undefined) return known;
  const none = { opening: 0n, closing: 0n, left: 0n, risen: 0n, fallen: 0n, fallenNew: 0n, retired: 0n };
  const account = { what, ...none, rose: 0n, used: 0n, retirements: 0, roseAt: '' };
  accounts.set(what, account);
  return account;
}

function addMove(
  account: Account,
  { place, moved_micro: micro, learnt_at: at }: Move,
  isKnown: boolean,
): void {
  const moved = microOf(micro);
  if (moved > 0n) {
    account.risen += moved;
    if (isKnown && place !== 'held') account.rose += moved;
    account.roseAt = at;
  } else {
    account.fallen -= moved;
    if (!isKnown) account.fallenNew -= moved;
  }
}

function accountLine(account: Account, settledAt: string): Line {
  const { what, opening, left, risen, rose, fallen, fallenNew, retired, used, retirements, roseAt } = account;
  const fall = opening - left + fallenNew;
  const explained = larger(smaller(retired, used), 0n);
  const ties = explained === 0n || fall + rose >= explained ? 1 : roseAt >= settledAt ? null : 0;
  const line = {
    what,
    rows: retirements,
    opening_micro: opening,
    risen_micro: risen,
    fallen_micro: fallen,
    found_micro: retired,
    expected_micro: fall + rose,
    explained_micro: explained,
    unexplained_micro: larger(retired - larger(explained, fall), 0n),
    ties,
  } as const;
  return { ...EMPTY, identity: 'projects', ...line, why: whyOf(line) };
}

function whyOf({
  ties,
  explained_micro: explained,
  expected_micro: fall,
}: Pick<Line, 'ties' | 'explained_micro' | 'expected_micro'>) {
  if (ties === 1) return null;
  const seen = `${tonnesOf(microOf(explained))} t retired by reservations and requests, and seen to fall by ${tonnesOf(microOf(fall))} t in all`;
  return ties === null ? `${seen}; a list was not read since the last rise` : seen;
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

export function addSerials(rows: readonly SerialBalance[]): Part {
  const loose = rows.filter(({ ties }) => ties === 0).map(serialLine);
  const sum: Line = {
    ...EMPTY,
    identity: 'serials',
    what: 'serializations that stand for one credit each',
    rows: rows.length,
    ties: flagOf(loose.length === 0),
  };
  return { sums: [sum], loose };
}

function serialLine({ serialization, credit_id: one, other_credit_id: other, rows }: SerialBalance): Line {
  const why = `stands for ${one} and for ${other}`;
  return { ...EMPTY, identity: 'serials', what: serialization, rows, ties: 0, why };
}
