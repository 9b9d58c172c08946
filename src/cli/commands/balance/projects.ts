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
}

interface Account {
  readonly what: string;
  opening: bigint;
  closing: bigint;
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
    opening_micro: microOf(row.opening_micro),
    fallen_micro: microOf(row.fallen_micro),
    found_micro: microOf(row.retired_micro),
    expected_micro: microOf(row.fall_micro),
    ties,
  };
  return { ...EMPTY, identity: 'projects', ...line, why: whyOf(line) };
}

/** The same of a period. */
export async function addProjects(parts: ProjectParts): Promise<Line[]> {
  const { from, to, settledAt, opening, moves, closing, retired } = parts;
  const accounts = new Map<string, Account>();
  const known = new Set<string>();
  for await (const row of opening) {
    known.add(row.credit_id);
    if (standsAt(row, from)) accountOf(accounts, row).opening += microOf(row.amount_micro);
  }
  for await (const row of moves) addMove(accountOf(accounts, row), row, known.has(row.credit_id));
  for await (const row of closing) {
    if (!standsAt(row, to)) continue;
    const account = accountOf(accounts, row);
    account.closing += microOf(row.amount_micro);
    if (known.has(row.credit_id)) account.left += microOf(row.amount_micro);
  }
  for await (const row of retired) {
    const account = accountOf(accounts, row);
    account.retired += microOf(row.amount_micro);
    account.retirements += 1;
  }
  return [...accounts.values()].map(account => accountLine(account, settledAt));
}

function standsAt({ held_to: to }: Stock, at: string): boolean {
  return to === null || to > at;
}

function accountOf(accounts: Map<string, Account>, row: Pick<Retired, 'project_id' | 'vintage'>): Account {
  const what = `${row.project_id ?? 'of no project'} ${row.vintage ?? 'of no vintage'}`;
  const known = accounts.get(what);
  if (known !== undefined) return known;
  const none = { opening: 0n, closing: 0n, left: 0n, risen: 0n, fallen: 0n, fallenNew: 0n, retired: 0n };
  const account = { what, ...none, retirements: 0, roseAt: '' };
  accounts.set(what, account);
  return account;
}

function addMove(account: Account, { moved_micro: micro, learnt_at: at }: Move, isKnown: boolean): void {
  const moved = microOf(micro);
  if (moved > 0n) {
    account.risen += moved;
    account.roseAt = at;
  } else {
    account.fallen -= moved;
    if (!isKnown) account.fallenNew -= moved;
  }
}

function accountLine(account: Account, settledAt: string): Line {
  const { what, opening, left, risen, fallen, fallenNew, retired, retirements, roseAt } = account;
  const fall = opening - left + fallenNew;
  const ties = retired <= 0n || fall >= retired ? 1 : roseAt >= settledAt ? null : 0;
  const line = {
    what,
    rows: retirements,
    opening_micro: opening,
    risen_micro: risen,
    fallen_micro: fallen,
    found_micro: retired,
    expected_micro: fall,
    ties,
  } as const;
  return { ...EMPTY, identity: 'projects', ...line, why: whyOf(line) };
}

function whyOf({
  ties,
  found_micro: found,
  expected_micro: fall,
}: Pick<Line, 'ties' | 'found_micro' | 'expected_micro'>) {
  if (ties === 1) return null;
  const seen = `${tonnesOf(microOf(found))} t retired, and seen to fall by ${tonnesOf(microOf(fall))} t in all`;
  return ties === null ? `${seen}; a list was not read since the last rise` : seen;
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
