import { amountOf } from '../../../registry/json/amount.js';
import { tonnesOf } from '../../../text/tonnes.js';
import type { Move, Stock } from '../../../query/past/balance.js';
import { EMPTY, flagOf, type Line, microOf, type Part } from './line.js';

export interface StockParts {
  readonly opening: AsyncIterable<Stock>;
  readonly moves: AsyncIterable<Move>;
  readonly closing: AsyncIterable<Stock>;
  readonly openedAt: (row: Pick<Stock, 'place' | 'organization_id'>) => string | null;
}

interface Account {
  readonly place: string;
  readonly organizationId: string;
  readonly creditId: string;
  readonly type: string | null;
  readonly openedAt: string | null;
  opening: bigint;
  risen: bigint;
  fallen: bigint;
  closing: bigint;
}

type Named = Pick<Move, 'place' | 'organization_id' | 'credit_id' | 'part' | 'type'>;

/** Per credit and place: what stood there, and what it was seen to move by, is what stands there. */
export async function addCredits({ opening, moves, closing, openedAt }: StockParts): Promise<Part> {
  const accounts = new Map<string, Account>();
  const accountFor = (row: Named) => accountOf(accounts, row, openedAt(row));
  for await (const row of opening) accountFor(row).opening += microOf(row.amount_micro);
  for await (const row of moves) {
    const moved = microOf(row.moved_micro);
    const account = accountFor(row);
    if (moved > 0n) account.risen += moved;
    else account.fallen -= moved;
  }
  let notSummed = 0;
  for await (const row of closing) {
    if (row.amount_micro === null) notSummed += 1;
    accountFor(row).closing += toldBy(row);
  }
  return { sums: sumsOf(accounts.values()), loose: [...accounts.values()].flatMap(looseOf), notSummed };
}

function accountOf(accounts: Map<string, Account>, row: Named, openedAt: string | null): Account {
  const key = JSON.stringify([row.place, row.organization_id, row.credit_id, row.part]);
  const known = accounts.get(key);
  if (known !== undefined) return known;
  const { place, organization_id: organizationId, credit_id: creditId, type } = row;
  const none = { opening: 0n, risen: 0n, fallen: 0n, closing: 0n };
  const account = { place, organizationId, creditId, type, openedAt, ...none };
  accounts.set(key, account);
  return account;
}

/** By the registry's own digits: the changes were added up by millionths. */
function toldBy({ amount_micro: micro, amount_exact: exact }: Stock): bigint {
  if (micro === null) return 0n;
  return (exact === null ? null : amountOf(exact).micro) ?? BigInt(micro);
}

function expectedOf({ opening, risen, fallen }: Account): bigint {
  return opening + risen - fallen;
}

function looseOf(account: Account): Line[] {
  if (expectedOf(account) === account.closing) return [];
  const { place, creditId, closing, opening, risen, fallen } = account;
  const moved = `${tonnesOf(opening)} t, seen to rise by ${tonnesOf(risen)} t and to fall by ${tonnesOf(fallen)} t`;
  return [
    {
      ...lineOf(account, 1),
      what: `${place} ${creditId}`,
      why: `${moved}, and listed with ${tonnesOf(closing)} t`,
    },
  ];
}

function lineOf(account: Account, rows: number): Line {
  return {
    ...EMPTY,
    identity: 'credits',
    organization_id: account.organizationId,
    what: account.place,
    type: account.type,
    rows,
    opening_at: account.openedAt,
    opening_micro: account.opening,
    risen_micro: account.risen,
    fallen_micro: account.fallen,
    found_micro: account.closing,
    expected_micro: expectedOf(account),
    ties: flagOf(expectedOf(account) === account.closing),
  };
}

/** One of each organization, place and type. Two that are wrong may hide in a sum: it ties where each of its parts does. */
function sumsOf(accounts: Iterable<Account>): Line[] {
  const sums = new Map<string, { readonly sum: Account; rows: number; ties: boolean }>();
  for (const account of accounts) {
    const key = JSON.stringify([account.organizationId, account.place, account.type]);
    const held = sums.get(key) ?? { sum: emptied(account), rows: 0, ties: true };
    sums.set(key, held);
    held.rows += 1;
    held.ties &&= expectedOf(account) === account.closing;
    for (const name of ['opening', 'risen', 'fallen', 'closing'] as const) held.sum[name] += account[name];
  }
  return [...sums.values()].map(({ sum, rows, ties }) => ({ ...lineOf(sum, rows), ties: flagOf(ties) }));
}

function emptied(account: Account): Account {
  return { ...account, opening: 0n, risen: 0n, fallen: 0n, closing: 0n };
}
