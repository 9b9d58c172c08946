import { colourOf, type FreshnessStanding, wordsOf } from '../../query/freshness/describe-freshness.js';
import type { FreshnessSum } from '../../query/freshness/read-freshness.js';
import { formatCount } from '../../text/numbers.js';
import { html, type Html } from './html.js';
import { renderState } from './badges.js';
import { renderAge, formatRelativeTime } from './instants.js';

/** Renders each freshness state of a list with the number of organizations in that state. */
export function renderFreshness(sums: readonly FreshnessSum[], now: number): Html {
  return html`<span id="freshness" class="lead">${sums.length === 0 ? 'No list has been read yet.' : renderFreshnessSums(sums, now)}</span>`;
}

/** Renders a sentence for each freshness state of a list. */
export function renderFreshnessSums(sums: readonly FreshnessSum[], now: number): Html {
  return html`${sums.map(sum => renderFreshnessSentence(sum, now))}`;
}

/** Renders a freshness state: a coloured badge, but plain text for "fresh". */
export function renderFreshnessState(standing: FreshnessStanding): Html {
  return renderState(wordsOf(standing), colourOf(standing));
}

/** Renders a sentence such as "fresh in 3 organizations, last complete read 5 min ago". */
function renderFreshnessSentence(sum: FreshnessSum, now: number): Html {
  const { resources, oldest_at: oldestAt, as_of: asOf } = sum;
  const lastRead =
    asOf !== null &&
    html`, last complete read ${renderAge(asOf, now)}${oldestAt !== null && formatRelativeTime(oldestAt, now) !== formatRelativeTime(asOf, now) && html` to ${renderAge(oldestAt, now)}`}`;
  return html`${renderFreshnessState(sum)} in ${formatCount(resources, 'organization')}${lastRead}. `;
}
