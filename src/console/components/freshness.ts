import type { FreshnessSum } from '../../query/reads/freshness.js';
import { html, type Html } from './html.js';
import { ago, badge, counted } from './words.js';

/** How old the rows of a list are, and of how many organizations. */
export function freshnessOf(sums: readonly FreshnessSum[], now: number): Html {
  return html`<p id="freshness" data-live>${sums.length === 0 ? 'No list of an organization has been read.' : sums.map(sum => describe(sum, now))}</p>`;
}

function describe({ state, organizations, oldestAt, newestAt }: FreshnessSum, now: number): Html {
  const read =
    newestAt !== null &&
    html`, last read completely ${ago(newestAt, now)}${oldestAt !== newestAt && html` to ${ago(oldestAt, now)}`}`;
  return html`${badge(state)} in ${counted(organizations, 'organization')}${read}. `;
}
