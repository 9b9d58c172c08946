/** Totals of an answer as words for people. */
import { formatCount, formatWithCommas, pluralize } from '../../text/numbers.js';
import { formatSumsByType } from '../../text/tonnes.js';
import type { Totals, TypeAmount } from './answer.js';
import { describeCaveat } from './caveat.js';

/** What `describeTotals` says besides the count and the amounts of all rows. */
interface TotalsOptions {
  /** Follows the noun, such as `of Acme`. */
  readonly subject?: string;
  /** The part of the amounts that buyers can reserve. */
  readonly available?: readonly TypeAmount[] | null;
}

/** Describes rows with their total, such as `12 retirements of Acme: 345.6 t`. */
export function describeTotals(
  totals: Totals,
  singular: string,
  { subject = '', available = null }: TotalsOptions = {},
): string {
  const { rows, hasMore, amounts } = totals;
  const count = hasMore
    ? `More than ${formatWithCommas(rows)} ${pluralize(singular)}`
    : formatCount(rows, singular);
  const counted = `${count}${subject === '' ? '' : ` ${subject}`}`;
  if (amounts === null || rows === 0) return counted;
  const offer = available === null ? '' : `, of which ${formatAmounts(available)} are available now`;
  return `${counted}: ${formatAmounts(amounts)}${offer}`;
}

/** Describes how many rows of a total still hold an amount, such as `Held now: 2 with 290 t` for reservations that have not ended. */
export function describeHeld({ rows, amounts }: Totals): string {
  if (rows === 0 || amounts === null) return 'Held now: nothing';
  return `Held now: ${formatWithCommas(rows)} with ${formatAmounts(amounts)}`;
}

/** Formats amounts, such as `440,995 t ex-post and 63,304 t ex-ante`. */
export function formatAmounts(amounts: readonly TypeAmount[]): string {
  return formatSumsByType(
    amounts.map(({ type, amountMicro }) => ({
      ...(type === null ? {} : { type }),
      amount_micro: amountMicro,
    })),
  );
}

/**
 * Returns a text to put after a printed sum: how many rows are not counted, because they have no usable amount. Returns an empty text if
 * all rows are counted.
 */
export function describeExcludedRows(sums: readonly { readonly rows_without_amount?: unknown }[]): string {
  const rows = sums.reduce((total, sum) => total + Number(sum.rows_without_amount ?? 0), 0);
  return rows === 0 ? '' : `. ${describeCaveat({ code: 'without_amount', rows })}`;
}
