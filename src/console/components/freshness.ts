import { colourOf, type Standing, wordsOf } from '../../query/freshness/words.js';
import type { FreshnessSum } from '../../query/freshness/read.js';
import { gapsIn, type Known, sayOldest } from '../../query/history/as-of.js';
import { formatRest, formatCount, MAX_SHOWN } from '../../text/numbers.js';
import { html, type Html } from './html.js';
import { ago, badge, wordsAgo } from './words.js';

/** How old the rows of a list are, and of how many organizations. */
export function freshnessOf(sums: readonly FreshnessSum[], now: number): Html {
  return html`<p id="freshness" class="lead" data-live>${sums.length === 0 ? 'No list has been read yet.' : sums.map(sum => describe(sum, now))}</p>`;
}

/** How far a resource can be trusted, in words and in the colour of what they mean. */
export function standing(known: Standing): Html {
  return badge(wordsOf(known), colourOf(known));
}

function describe(sum: FreshnessSum, now: number): Html {
  const { resources, oldest_at: oldestAt, as_of: asOf } = sum;
  const read =
    asOf !== null &&
    html`, last complete read ${ago(asOf, now)}${oldestAt !== null && wordsAgo(oldestAt, now) !== wordsAgo(asOf, now) && html` to ${ago(oldestAt, now)}`}`;
  return html`${standing(sum)} in ${formatCount(resources, 'organization')}${read}. `;
}

/** Until when a page as of an instant knows, and what it cannot know, in words. */
export function gapsOf(resource: string, gaps: readonly Known[]): Html {
  const lines = gaps.flatMap(known => {
    const whose = `${known.name ?? known.organizationId}, ${resource.replaceAll('_', ' ')}`;
    return gapsIn(known).map(each => `${whose}: ${each}.`);
  });
  const oldest = html`<p class="lead">${sayOldest(gaps)}</p>`;
  if (lines.length === 0) return oldest;
  const shown = [...lines.slice(0, MAX_SHOWN), formatRest(lines.length) ?? []].flat();
  return html`${oldest}<section class="card"><h2>Known gaps</h2><ul class="gaps">${shown.map(each => html`<li>${each}</li>`)}</ul></section>`;
}
