/**
 * The result of a query of the mirror: rows, and values that say how complete and how fresh they are.
 *
 * Commands, pages and files only draw an answer. They never decide which gaps or caveats it has.
 */
import type { FreshnessSum } from '../freshness/read-freshness.js';
import type { Caveat } from './caveat.js';
import type { Gap } from './gap.js';

/** How complete and how fresh the rows of an answer are. */
export interface AnswerNotes {
  /** The instant of the rows. Null for the present. */
  readonly at: string | null;
  /** Null if the rows have no amounts and are not counted. */
  readonly totals: Totals | null;
  /** Null if the rows belong to no organization. */
  readonly coverage: Coverage | null;
  /** How fresh the lists are that the rows are from. Empty for a past instant, and for lists that are not read from the registry. */
  readonly freshness: readonly FreshnessSum[];
  /** The lists that were not fully known at a past instant. Empty for the present. */
  readonly gaps: readonly Gap[];
  readonly caveats: readonly Caveat[];
}

export interface Answer<Row> extends AnswerNotes {
  /** Can be read once. */
  readonly rows: AsyncIterable<Row>;
}

/** An answer with few rows, which are in memory and can be read more than once. */
export interface CollectedAnswer<Row> extends AnswerNotes {
  readonly rows: readonly Row[];
}

export interface Totals {
  readonly rows: number;
  /** Whether there are more rows than `rows`, because counting stopped there. */
  readonly hasMore: boolean;
  /** Tonnes by credit type, in millionths. Null if the rows have no amount, or are too many to add up. */
  readonly amounts: readonly TypeAmount[] | null;
  /** Rows that are in no amount, because their own amount is not usable. */
  readonly rowsWithoutAmount: number;
}

export interface TypeAmount {
  /** Null if the rows have no credit type. */
  readonly type: string | null;
  readonly amountMicro: bigint;
}

/** How many of the known organizations an answer includes. */
export interface Coverage {
  readonly counted: number;
  /** Organizations that have the app. */
  readonly known: number;
  readonly missing: number;
}

/** Yields rows that are already read, as the rows of an answer. */
export async function* streamOf<Row>(rows: Iterable<Row> | AsyncIterable<Row>): AsyncGenerator<Row> {
  yield* rows;
}

/** Reads all rows of an answer. */
export async function collectRows<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const collected: Row[] = [];
  for await (const row of rows) collected.push(row);
  return collected;
}

/** A sum of some rows of one credit type. */
interface TypedSum {
  readonly type: string | null;
  readonly amount_micro: bigint;
  readonly rows: number;
  readonly rows_without_amount: number;
}

/** Combines sums of rows into the totals of an answer, with one amount for each credit type. */
export function totalsOfSums(sums: readonly TypedSum[]): Totals {
  const amounts = new Map<string | null, bigint>();
  for (const { type, amount_micro: micro } of sums) amounts.set(type, (amounts.get(type) ?? 0n) + micro);
  return {
    rows: sums.reduce((count, { rows }) => count + rows, 0),
    hasMore: false,
    amounts: [...amounts].map(([type, amountMicro]) => ({ type, amountMicro })),
    rowsWithoutAmount: sums.reduce((count, sum) => count + sum.rows_without_amount, 0),
  };
}

/**
 * Returns the caveat that some rows have no usable amount and are in no total. Returns an empty array if all rows have an amount, or if the
 * totals have no amounts.
 */
export function findAmountCaveats({ amounts, rowsWithoutAmount: rows }: Totals): Caveat[] {
  return amounts === null || rows === 0 ? [] : [{ code: 'without_amount', rows }];
}
