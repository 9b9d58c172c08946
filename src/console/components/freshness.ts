import { colourOf, type FreshnessStanding, wordsOf } from '../../query/freshness/words.js';
import type { FreshnessSum } from '../../query/freshness/read.js';
import { describeCaveat } from '../../query/answer/caveat.js';
import { describeGap } from '../../query/answer/gap.js';
import { type CoverageAt, findOldestReadCaveats } from '../../query/history/as-of.js';
import { formatOmittedCount, formatCount, MAX_SHOWN } from '../../text/numbers.js';
import { html, type Html } from './html.js';
import { renderBadge } from './state-badge.js';
import { renderAge, formatRelativeTime, renderInstantsIn } from './instants.js';

/** Renders each freshness state of a list with the number of organizations in that state. */
export function renderFreshness(sums: readonly FreshnessSum[], now: number): Html {
  return html`<p id="freshness" class="lead" data-live>${sums.length === 0 ? 'No list has been read yet.' : sums.map(sum => renderFreshnessSentence(sum, now))}</p>`;
}

/** Renders a freshness state as a coloured badge, such as "fresh" in green. */
export function renderFreshnessState(standing: FreshnessStanding): Html {
  return renderBadge(wordsOf(standing), colourOf(standing));
}

/** Renders a sentence such as "fresh in 3 organizations, last complete read 5 min ago". */
function renderFreshnessSentence(sum: FreshnessSum, now: number): Html {
  const { resources, oldest_at: oldestAt, as_of: asOf } = sum;
  const lastRead =
    asOf !== null &&
    html`, last complete read ${renderAge(asOf, now)}${oldestAt !== null && formatRelativeTime(oldestAt, now) !== formatRelativeTime(asOf, now) && html` to ${renderAge(oldestAt, now)}`}`;
  return html`${renderFreshnessState(sum)} in ${formatCount(resources, 'organization')}${lastRead}. `;
}

/** Renders how complete a list was at a past instant: when its oldest data was read, then the known gaps. */
export function renderAsOfCoverage(lists: readonly CoverageAt[]): Html {
  const lines = lists.flatMap(({ gaps }) => gaps.map(describeGap));
  const oldest = html`<p class="lead">${findOldestReadCaveats(lists).map(caveat => renderInstantsIn(describeCaveat(caveat)))}</p>`;
  if (lines.length === 0) return oldest;
  const shown = [...lines.slice(0, MAX_SHOWN), formatOmittedCount(lines.length) ?? []].flat();
  return html`${oldest}<section class="card"><h2>Known gaps</h2><ul class="gaps">${shown.map(line => html`<li>${renderInstantsIn(line)}</li>`)}</ul></section>`;
}
