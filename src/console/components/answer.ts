import type { AnswerNotes } from '../../query/answer/answer.js';
import { describeNotes } from '../../query/answer/describe.js';
import { describeGap } from '../../query/answer/gap.js';
import { formatOmittedCount, MAX_SHOWN } from '../../text/numbers.js';
import { renderFreshness } from './freshness.js';
import { html, type Html } from './html.js';
import { renderInstantsIn } from './instants.js';

/** Renders how fresh the rows of an answer are, which organizations are missing, and what else a reader must know. */
export function renderAnswerNotes(notes: AnswerNotes, now: number): Html {
  const freshness = renderFreshnessOf(notes, now);
  return html`${freshness !== false && html`<p>${freshness}</p>`}${renderCaveats(notes)}`;
}

/** Renders which organizations are missing from an answer, and what else a reader must know. */
export function renderCaveats({
  coverage,
  caveats,
}: Pick<AnswerNotes, 'coverage' | 'caveats'>): Html | false {
  const sentences = describeNotes({ coverage, caveats });
  return (
    sentences.length > 0 &&
    html`<p id="caveats" class="lead" data-live>${sentences.map(sentence => html`${renderInstantsIn(sentence)} `)}</p>`
  );
}

/** Renders how fresh the rows of an answer are now. Returns false for a past instant. */
export function renderFreshnessOf(
  { at, coverage, freshness }: Pick<AnswerNotes, 'at' | 'coverage' | 'freshness'>,
  now: number,
): Html | false {
  // An answer about several lists has no freshness, but coverage.
  const hasFreshness = freshness.length > 0 || coverage?.counted === 0;
  return at === null && hasFreshness && renderFreshness(freshness, now);
}

/** Renders what was not known at the instant of an answer, as a card. */
export function renderGaps({ gaps }: Pick<AnswerNotes, 'gaps'>): Html | false {
  if (gaps.length === 0) return false;
  const shown = [
    ...gaps.slice(0, MAX_SHOWN).map(describeGap),
    ...[formatOmittedCount(gaps.length) ?? []].flat(),
  ];
  return html`<section class="card"><h2>Known gaps</h2><ul class="gaps">${shown.map(line => html`<li>${renderInstantsIn(line)}</li>`)}</ul></section>`;
}
