/** Totals of an answer as words for people. */
import { formatCount, formatWithCommas, pluralize } from '../../text/numbers.js';
import { formatSumsByType } from '../../text/tonnes.js';
import type { Totals, TypeAmount } from './answer.js';
import { describeCaveat } from './caveat.js';

/** Describes rows with their total, such as `12 retirements of Acme: 345.6 t`. `available` is what buyers can reserve. */
export function describeTotals(
  totals: Totals,
  singular: string,
  {
    subject = '',
    available = null,
  }: { readonly subject?: string; readonly available?: readonly TypeAmount[] | null } = {},
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

/** Formats amounts, such as `440,995 t ex-post and 63,304 t ex-ante`. */
export function formatAmounts(amounts: readonly TypeAmount[]): string {
  return formatSumsByType(
    amounts.map(({ type, amountMicro }) => ({
      ...(type === null ? {} : { type }),
      amount_micro: amountMicro,
    })),
  );
}

/** Describes how many rows have no usable amount and are in none of these sums, to append to a sum. Empty if there are none. */
export function describeExcludedRows(sums: readonly { readonly rows_without_amount?: unknown }[]): string {
  const rows = sums.reduce((total, sum) => total + Number(sum.rows_without_amount ?? 0), 0);
  return rows === 0 ? '' : `. ${describeCaveat({ code: 'without_amount', rows })}`;
}
