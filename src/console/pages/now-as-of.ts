import { isUnknown as isUnknownCaveat } from '../../query/answer/caveat.js';
import { formatAmounts } from '../../query/answer/describe-totals.js';
import { collectRows } from '../../query/answer/answer.js';
import { readWarehousesAt } from '../../query/history/warehouses-at.js';
import type { ConsoleRequest, PageContent } from '../page.js';
import { renderAnswerNotes, renderGaps } from '../components/answer.js';
import { withQuery } from '../components/as-of.js';
import { html, type Html } from '../components/html.js';
import { ALL } from '../components/table.js';
import { renderVintageMatrix } from '../components/vintage-matrix.js';

/** Renders the start page for a past instant. Shows all warehouse credits: it is not recorded which of them were available. */
export function renderNowAsOf(request: ConsoleRequest, at: string): PageContent {
  return {
    title: 'Warehouses',
    body: html`<h1>Credits in the warehouses at that time</h1>`,
    renderRest: () => renderWarehousesAt(request, at),
  };
}

/** Renders the warehouse credits at an instant, and how complete the mirror's copy of them was. */
async function renderWarehousesAt({ reader, query, now }: ConsoleRequest, at: string): Promise<Html> {
  const answer = await readWarehousesAt(reader, { at, projectId: null });
  const sums = await collectRows(answer.rows);
  const isUnknown = answer.caveats.some(isUnknownCaveat);
  return html`${!isUnknown && html`<p id="sentence"><strong>${formatAmounts(answer.totals?.amounts ?? [])} in the warehouses.</strong></p>`}
${sums.length > 0 && html`<section id="stood">${renderVintageMatrix('Credits', sums, { query, at })}</section>`}
${!isUnknown && html`<p class="links"><a href="${withQuery('/warehouse', query, { [ALL]: null })}">Credits by organization</a></p>`}
${renderAnswerNotes(answer, now)}
${renderGaps(answer)}`;
}
