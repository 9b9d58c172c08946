import { html, type Html } from './html.js';
import { formatDay } from './instants.js';

/** Renders an amber badge that links to the restatements of a retirement. */
export function renderRestatedBadge(id: string, restatedAt: string): Html {
  const text = html`restated<span class="detail"> by the registry on ${formatDay(restatedAt)}</span>`;
  return html`<a class="state doubt" href="/restatements?id=${encodeURIComponent(id)}">${text}</a>`;
}
