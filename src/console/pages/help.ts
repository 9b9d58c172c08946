import { FRESHNESS, wordsOf } from '../../query/freshness/describe-freshness.js';
import { ALL_LISTS } from '../../query/lists/list-definitions.js';
import type { ConsolePage, PageContent } from '../page.js';
import { html } from '../components/html.js';
import { TERMS } from '../components/glossary.js';
import { capitalize } from '../components/column-labels.js';
import { renderBadge } from '../components/badges.js';

export const HELP: ConsolePage = { path: '/help', render: async () => renderHelp() };

/** Renders the help page: keyboard shortcuts, lists, states of freshness and the terms of the console. */
function renderHelp(): PageContent {
  const body = html`<h1>Help</h1>
<section class="card"><h2>Keyboard shortcuts</h2><dl class="facts"><dt><kbd>/</kbd></dt><dd>Search ids, names, serializations, beneficiaries, comments and errors</dd>
<dt><kbd>?</kbd></dt><dd>Open this page</dd><dt><kbd>Ctrl</kbd> <kbd>Enter</kbd></dt><dd>Run the SQL query</dd></dl>
</section><section class="card"><h2>Lists</h2><ul class="links">${ALL_LISTS.map(({ name, title }) => html`<li><a href="/${name}">${title}</a></li>`)}</ul>
</section><section class="card"><h2>Freshness</h2><dl class="facts">
${FRESHNESS.map(state => html`<dt>${renderBadge(wordsOf(state), state.colour)}</dt><dd>${state.meaning}</dd>`)}</dl>
</section><section class="card"><h2>Terms</h2><dl class="facts">
${Object.entries(TERMS).map(([term, meaning]) => html`<dt id="${term}">${capitalize(term)}</dt><dd>${meaning}</dd>`)}
<dt>Paused</dt><dd>A job that waits because the registry answered 401. It is retried automatically, at growing intervals, or with the next delivery.</dd>
<dt>Failed</dt><dd>A job that failed ten times or cannot succeed. The schedule reads the same lists again; the job itself runs again only when a person retries it.</dd></dl>
</section><section class="card"><h2>Links and times</h2><p>Filters, page and date are in the URL, so you can share a link with other users of this console. Times are shown as ages; point at one to see the instant in UTC.</p></section>`;
  return { title: 'Help', body };
}
