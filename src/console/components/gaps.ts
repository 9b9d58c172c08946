import { gapsIn, type Known } from '../../query/history/as-of.js';
import { andMore, MOST_SHOWN } from '../../text/and-more.js';
import { html, type Html } from './html.js';

/** What a page as of an instant cannot know, in words. */
export function gapsOf(resource: string, gaps: readonly Known[]): Html | false {
  const lines = gaps.flatMap(known => {
    const whose = `${known.name ?? known.organizationId}, ${resource.replaceAll('_', ' ')}`;
    return gapsIn(known).map(each => `${whose}: ${each}.`);
  });
  if (lines.length === 0) return false;
  const shown = [...lines.slice(0, MOST_SHOWN), andMore(lines.length) ?? []].flat();
  return html`<section class="card"><h2>What cannot be known</h2><ul class="gaps">${shown.map(each => html`<li>${each}</li>`)}</ul></section>`;
}
