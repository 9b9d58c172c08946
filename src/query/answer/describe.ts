/** Sentences about an answer for people. Commands print them, and pages show them. */
import { formatCount, formatKnownOrganizations, formatWithCommas, pluralize } from '../../text/numbers.js';
import { formatSumsByType } from '../../text/tonnes.js';
import type { AnswerNotes, Coverage, Totals, TypeAmount } from './answer.js';
import { describeCaveat, isUnknown } from './caveat.js';

/** Describes rows with their total, such as `12 retirements of Acme: 345.6 t`. */
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

/** Describes how many organizations are missing. Null if none is. */
function describeCoverage(coverage: Coverage | null): string | null {
  if (coverage === null || coverage.missing === 0) return null;
  return `Covers ${formatWithCommas(coverage.counted)} of ${formatKnownOrganizations(coverage.known)}.`;
}

/** Describes which organizations are missing, and each caveat, in one sentence each. A complete answer needs none. */
export function describeNotes({ coverage, caveats }: Pick<AnswerNotes, 'coverage' | 'caveats'>): string[] {
  const sentence = describeCoverage(coverage);
  return [...(sentence === null ? [] : [sentence]), ...caveats.map(describeCaveat)];
}

/** Describes why nothing is known about the rows. Null if something is. */
export function describeUnknown({ caveats }: Pick<AnswerNotes, 'caveats'>): string | null {
  const caveat = caveats.find(isUnknown);
  return caveat === undefined ? null : describeCaveat(caveat);
}
