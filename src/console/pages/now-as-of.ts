import { isUnknown as isUnknownCaveat } from '../../query/answer/caveat.js';
import { formatAmounts } from '../../query/answer/describe-totals.js';
import { collectRows } from '../../query/answer/answer.js';
import { readInactiveAt } from '../../query/history/inactive-at.js';
import { readWarehousesAt } from '../../query/history/warehouses-at.js';
import type { Reader } from '../../store/contract/reader.js';
import { formatCount, MAX_SHOWN } from '../../text/numbers.js';
import type { ConsoleRequest, PageContent } from '../page.js';
import { renderAnswerNotes, renderGaps } from '../components/answer.js';
import { withQuery } from '../components/as-of.js';
import { html, type Html } from '../components/html.js';
import { ALL } from '../components/table.js';
import { renderDetailLink } from '../components/table-cell.js';
import { renderVintageMatrix } from '../components/vintage-matrix.js';

/**
 * Renders the start page as of a past instant. Shows all warehouse credits, including those that could not be sold at that instant.
 */
export function renderNowAsOf(request: ConsoleRequest, at: string): PageContent {
  return {
    title: 'Warehouses',
    body: html`<h1>Credits in the warehouses at that time</h1>`,
    renderRest: () => renderWarehousesAt(request, at),
  };
}

/** Renders the warehouse credits at an instant, and how complete the mirror's copy of them was. */
async function renderWarehousesAt({ reader, query, now }: ConsoleRequest, at: string): Promise<Html> {
  const answer = await readWarehousesAt(reader, { at, organizationIds: null, projectId: null });
  const sums = await collectRows(answer.rows);
  const isUnknown = answer.caveats.some(isUnknownCaveat);
  return html`${!isUnknown && html`<p id="sentence"><strong>${formatAmounts(answer.totals?.amounts ?? [])} in the warehouses.</strong></p><p class="lead">All stock, including credits that could not be sold then. ${await renderInactiveStock(reader, at)}</p>`}
${sums.length > 0 && html`<section id="stood">${renderVintageMatrix('Credits', sums, { query, at })}</section>`}
${!isUnknown && html`<p class="links"><a href="${withQuery('/warehouse', query, { [ALL]: null })}">Credits by organization</a></p>`}
${renderAnswerNotes(answer, now)}
${renderGaps(answer)}`;
}

/**
 * Renders how much of the stock belonged to organizations that had suspended or removed the app, and their names. Returns false if
 * there were no such organizations.
 */
async function renderInactiveStock(reader: Reader, at: string): Promise<Html | false> {
  const inactive = await readInactiveAt(reader, at, null);
  if (inactive.length === 0) return false;
  const organizationIds = inactive.map(({ id }) => id);
  const { totals } = await readWarehousesAt(reader, { at, organizationIds, projectId: null });
  const names = inactive
    .slice(0, MAX_SHOWN)
    .map(
      ({ id, name, state }, index) =>
        html`${index > 0 && ', '}${renderDetailLink('organization_id', id, html`${name ?? id}`, at)} (${state})`,
    );
  const omitted = inactive.length - names.length;
  return html`${formatAmounts(totals?.amounts ?? [])} of it could not be sold, because the organizations had suspended or removed the app: ${names}${omitted > 0 && ` and ${formatCount(omitted, 'other')}`}.`;
}
