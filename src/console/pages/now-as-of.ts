import { findUnknownReason, readCoverageAt, selectKnownIds } from '../../query/history/as-of.js';
import { countKnownAt } from '../../query/coverage.js';
import { sumWarehousesAt } from '../../query/sums.js';
import { formatKnownOrganizations, formatWithCommas } from '../../text/numbers.js';
import { formatSumsByType } from '../../text/tonnes.js';
import type { ConsoleRequest, PageContent } from '../page.js';
import { withQuery } from '../components/as-of.js';
import { renderAsOfCoverage } from '../components/freshness.js';
import { html, type Html } from '../components/html.js';
import { ALL } from '../components/table.js';
import { describeExcludedRows } from '../components/amounts.js';
import { renderVintageMatrix } from '../components/vintage-matrix.js';

/** Renders the start page for a past instant: all warehouse credits. Past availability is not recorded. */
export function renderNowAsOf(request: ConsoleRequest, at: string): PageContent {
  return {
    title: 'Warehouses',
    body: html`<h1>Credits in the warehouses at that time</h1>`,
    renderRest: () => renderWarehousesAt(request, at),
  };
}

/** Renders the warehouse credits at an instant, and how complete the lists of the warehouses were. */
async function renderWarehousesAt({ reader, query }: ConsoleRequest, at: string): Promise<Html> {
  const coverage = await readCoverageAt(reader, { resource: 'warehouse', at, organizationId: null });
  const knownOrganizations = new Set(selectKnownIds(coverage));
  const sums = (await sumWarehousesAt(reader, at)).filter(row =>
    knownOrganizations.has(row.organization_id ?? ''),
  );
  if (sums.length === 0 && coverage.some(list => findUnknownReason(list) !== null))
    return html`<p id="sentence"><strong>No credits are known in any warehouse at that time.</strong></p>${renderAsOfCoverage(coverage)}`;
  const organizations = new Set(sums.map(row => row.organization_id)).size;
  return html`<p id="sentence"><strong>${formatSumsByType(sums)} in the warehouses of ${formatWithCommas(organizations)} of ${formatKnownOrganizations(await countKnownAt(reader, at))}${describeExcludedRows(sums) || '.'}</strong></p>
${sums.length > 0 && html`<section id="stood">${renderVintageMatrix('Credits', sums, { query, at })}</section>`}
<p class="links"><a href="${withQuery('/warehouse', query, { [ALL]: null })}">Credits by organization</a></p>
${renderAsOfCoverage(coverage)}`;
}
