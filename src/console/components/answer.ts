import type { AnswerNotes } from '../../query/answer/answer.js';
import { describeCompleteness, describeGaps } from '../../query/answer/describe-notes.js';
import { formatOmittedCount, MAX_SHOWN } from '../../text/numbers.js';
import { renderFreshness } from './freshness.js';
import { html, type Html } from './html.js';
import { renderInstantsIn } from './instants.js';

/** Renders how fresh the rows of an answer are, which organizations are missing, and the caveats of the answer. */
export function renderAnswerNotes(notes: AnswerNotes, now: number): Html {
  const freshness = renderFreshnessOf(notes, now);
  return html`${freshness !== false && html`<p>${freshness}</p>`}${renderCaveats(notes)}`;
}

/**
 * Renders how many organizations an answer covers, if some are missing, and the caveats of the answer. Returns false if no
 * organization is missing and there is no caveat.
 */
export function renderCaveats({
  coverage,
  caveats,
}: Pick<AnswerNotes, 'coverage' | 'caveats'>): Html | false {
  const sentences = describeCompleteness({ coverage, caveats });
  return (
    sentences.length > 0 &&
    html`<p id="caveats" class="lead" data-live>${sentences.map(sentence => html`${renderInstantsIn(sentence)} `)}</p>`
  );
}

/** Renders how fresh the rows of an answer are now. Returns false if the answer is about a past instant or has no freshness. */
export function renderFreshnessOf(
  { at, coverage, freshness }: Pick<AnswerNotes, 'at' | 'coverage' | 'freshness'>,
  now: number,
): Html | false {
  // An answer about several lists has no freshness.
  const hasFreshness = freshness.length > 0 || coverage?.known === 0;
  return at === null && hasFreshness && renderFreshness(freshness, now);
}

/** Renders a card that lists what was not known at the instant of an answer. Returns false if everything was known. */
export function renderGaps(notes: Pick<AnswerNotes, 'gaps'>): Html | false {
  return (
    notes.gaps.length > 0 && html`<section class="card"><h2>Known gaps</h2>${renderGapList(notes)}</section>`
  );
}

/** Renders a list of what was not known at the instant of an answer: the first few gaps, then how many others there are. */
export function renderGapList(notes: Pick<AnswerNotes, 'gaps'>): Html {
  const gaps = describeGaps(notes);
  const lines = [...gaps.slice(0, MAX_SHOWN), formatOmittedCount(gaps.length) ?? []].flat();
  return html`<ul class="gaps">${lines.map(line => html`<li>${renderInstantsIn(line)}</li>`)}</ul>`;
}
