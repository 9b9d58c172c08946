import { FRESHNESS, wordsOf } from '../../query/freshness/words.js';
import { ALL_LISTS } from '../../query/lists/lists.js';
import type { Page, Shown } from '../page.js';
import { html } from '../components/html.js';
import { badge } from '../components/words.js';

export const HELP: Page = { path: '/help', show: async () => show() };

function show(): Shown {
  const body = html`<h1>Help</h1>
<section class="card"><h2>Keys</h2><dl class="facts"><dt><kbd>/</kbd></dt><dd>Search: ids and their beginnings, names, serializations, beneficiaries, comments, error texts</dd>
<dt><kbd>?</kbd></dt><dd>This page</dd><dt><kbd>Ctrl</kbd> <kbd>Enter</kbd></dt><dd>Ask, in the box of a question</dd></dl>
</section><section class="card"><h2>Lists</h2><ul class="links">${ALL_LISTS.map(({ name, title }) => html`<li><a href="/${name}">${title}</a></li>`)}</ul>
</section><section class="card"><h2>Words</h2><dl class="facts">
${FRESHNESS.map(words => html`<dt>${badge(wordsOf(words), words.colour)}</dt><dd>${words.meaning}</dd>`)}
<dt>drift</dt><dd>What a scheduled read found and no webhook had announced.</dd>
<dt>kinds of jobs</dt><dd><em>installation</em> reads what one lets be read, <em>retry</em> what of it failed; <em>reservations</em> and <em>certificates</em> read these; <em>tick</em> begins a round of the schedule, <em>discover</em> looks for installations.</dd>
<dt>paused</dt><dd>A job that the registry answered 401: it tries again by itself, ever later, and with the next delivery.</dd>
<dt>failed</dt><dd>A job that failed ten times, or cannot succeed. The schedule reads the same again; it runs again when a person asks.</dd>
<dt>ignored</dt><dd>A delivery that was signed well and cannot be used.</dd></dl>
</section><section class="card"><h2>Addresses</h2><p>What a list shows stands in its address: filters, page, and as of when. An address can be sent to who may open this console. Times are ages; the instant itself, in UTC, is in each of them.</p></section>`;
  return { title: 'Help', body };
}
