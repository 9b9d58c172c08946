/** Sentences about how complete and fresh an answer is. Only the renderers of commands and of pages use them. */
import { formatKnownOrganizations, formatWithCommas } from '../../text/numbers.js';
import { describeFreshnessSum } from '../freshness/describe-freshness.js';
import type { AnswerNotes, Coverage } from './answer.js';
import { describeCaveat, isUnknown, type Caveat } from './caveat.js';
import { describeGap } from './gap.js';

/**
 * Returns the notes on an answer as sentences. There is one sentence for each gap (a list that was not fully known at the requested
 * instant), each group of lists that are not fresh, the number of missing organizations, and each caveat. Returns an empty array if the
 * answer is complete and fresh.
 */
export function describeNotes(notes: Omit<AnswerNotes, 'at' | 'totals'>): string[] {
  const freshness = notes.freshness.map(describeFreshnessSum).filter(line => line !== null);
  return [...describeGaps(notes), ...freshness, ...describeCompleteness(notes)];
}

/** Describes which lists were not fully known at the instant, in one sentence each. */
export function describeGaps({ gaps }: Pick<AnswerNotes, 'gaps'>): string[] {
  return gaps.map(describeGap);
}

/** Returns one sentence for each caveat. If organizations are missing, a first sentence says how many are included. */
export function describeCompleteness({
  coverage,
  caveats,
}: Pick<AnswerNotes, 'coverage' | 'caveats'>): string[] {
  const sentences = caveats.map(describeCaveat);
  if (coverage === null || coverage.missing === 0) return sentences;
  return [`Covers ${formatCoverage(coverage)}.`, ...sentences];
}

/** Formats how many organizations are included, such as `3 of the 4 known organizations`. */
export function formatCoverage({ counted, known }: Coverage): string {
  return `${formatWithCommas(counted)} of ${formatKnownOrganizations(known)}`;
}

/** Describes why the rows of an answer are unknown. Null if they are known. */
export function describeUnknown({ caveats }: Pick<AnswerNotes, 'caveats'>): string | null {
  const caveat = caveats.find(isUnknown);
  return caveat === undefined ? null : describeCaveat(caveat);
}

/** Describes caveats that belong to no answer, each in a sentence. */
export function describeCaveats(caveats: readonly Caveat[]): string[] {
  return caveats.map(describeCaveat);
}
