import { colourOf, type FreshnessStanding, wordsOf } from '../../query/freshness/words.js';
import type { FreshnessSum } from '../../query/freshness/read.js';
import { formatCount } from '../../text/numbers.js';
import { html, type Html } from './html.js';
import { renderBadge } from './state-badge.js';
import { renderAge, formatRelativeTime } from './instants.js';

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
