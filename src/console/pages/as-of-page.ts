import { knownIn, readKnownAt } from '../../query/history/as-of.js';
import { countKnownAt } from '../../query/coverage.js';
import { sumStoodAt } from '../../query/sums.js';
import { formatKnownOrganizations, formatWithCommas } from '../../text/numbers.js';
import { formatSumsByType } from '../../text/tonnes.js';
import type { PageRequest, PageContent } from '../page.js';
import { withQuery } from '../components/as-of.js';
import { renderGaps } from '../components/freshness.js';
import { html, type Html } from '../components/html.js';
import { ALL } from '../components/table.js';
import { describeExcludedRows } from '../components/formats.js';
import { renderVintageMatrix } from './by-vintage.js';

/** Creates the as-of view of Now: the credits in the warehouses. Whether they were available then is not recorded. */
export function createAsOfPage(request: PageRequest, at: string): PageContent {
  return {
    title: 'Warehouses',
    body: html`<h1>Credits in the warehouses at that time</h1>`,
    renderRest: () => renderWarehousesAt(request, at),
  };
}

async function renderWarehousesAt({ reader, query }: PageRequest, at: string): Promise<Html> {
  const gaps = await readKnownAt(reader, { resource: 'warehouse', at, organizationId: null });
  const known = new Set(knownIn(gaps));
  const stood = (await sumStoodAt(reader, at)).filter(row => known.has(row.organization_id ?? ''));
  const unknown = renderGaps('warehouse', gaps);
  if (stood.length === 0 && gaps.some(each => each.unknown !== null))
    return html`<p id="sentence"><strong>No credits are known in any warehouse at that time.</strong></p>${unknown}`;
  const organizations = new Set(stood.map(row => row.organization_id)).size;
  return html`<p id="sentence"><strong>${formatSumsByType(stood)} in the warehouses of ${formatWithCommas(organizations)} of ${formatKnownOrganizations(await countKnownAt(reader, at))}${describeExcludedRows(stood) || '.'}</strong></p>
${stood.length > 0 && html`<section id="stood">${renderVintageMatrix('Credits', stood, { query, at })}</section>`}
<p class="links"><a href="${withQuery('/warehouse', query, { [ALL]: null })}">Credits by organization</a></p>
${unknown}`;
}
