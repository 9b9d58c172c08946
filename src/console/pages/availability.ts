import { type Availability, readAvailability, type CreditScope } from '../../query/available.js';
import { describeExcludedRows } from '../../query/answer/describe-totals.js';
import { collectRows } from '../../query/answer/answer.js';
import { readWarehousesAt } from '../../query/history/warehouses-at.js';
import type { Reader } from '../../store/contract/reader.js';
import type { ConsoleRequest } from '../page.js';
import { formatSumsByType } from '../../text/tonnes.js';
import { renderAnswerNotes, renderCaveats, renderGaps } from '../components/answer.js';
import { renderDetailLink } from '../components/table-cell.js';
import { renderFreshnessState } from '../components/freshness.js';
import { html, type Html } from '../components/html.js';
import { renderTable } from '../components/table.js';
import { renderVintageMatrix } from '../components/vintage-matrix.js';
import { formatOmittedCount, MAX_SHOWN } from '../../text/numbers.js';

/** Renders the available credits of an organization. A second table shows the unavailable credits. */
export async function renderOrganizationAvailability(reader: Reader, organizationId: string): Promise<Html> {
  return renderAvailability(await readAvailability(reader, { organizationId }), { organizationId });
}

/** Renders the available credits of a project. A second table has the warehouses whose credits are not available. */
export async function renderProjectAvailability(reader: Reader, projectId: string): Promise<Html> {
  return renderAvailability(await readAvailability(reader, { projectId }), { projectId });
}

/** Renders the available credits of an organization or a project, then the warehouses whose credits are not available. */
function renderAvailability({ rows, unavailable, ...notes }: Availability, scope: CreditScope): Html {
  const amounts =
    rows.length === 0
      ? html`<p class="card">Nothing is available now.</p>`
      : renderVintageMatrix('Available', rows, {
          isOneProject: scope.projectId != null,
          organizationId: scope.organizationId ?? null,
        });
  return html`<div class="stack">${amounts}
${renderCaveats(notes)}
${renderUnavailableTable(unavailable)}</div>`;
}

/** Renders a table of warehouses whose credits are not available. False if there are none. */
function renderUnavailableTable(warehouses: Availability['unavailable']): Html | false {
  if (warehouses.length === 0) return false;
  const sums = warehouses.flatMap(warehouse => warehouse.sums);
  return renderTable(
    `Not available now: ${formatSumsByType(sums)}${describeExcludedRows(sums)}`,
    [
      {
        name: 'Organization',
        cell: ({ organization_id: id, organization_name: name }) =>
          renderDetailLink('organization_id', id, html`${name ?? id}`, null),
      },
      { name: 'State', cell: renderFreshnessState },
      {
        name: 'Amount',
        cell: warehouse => html`${formatSumsByType(warehouse.sums)}${describeExcludedRows(warehouse.sums)}`,
      },
    ],
    warehouses.slice(0, MAX_SHOWN),
    { footer: formatOmittedCount(warehouses.length) },
  );
}

/** Renders the warehouse credits of an organization at an instant. Returns false if it had none. */
export async function renderOrganizationStockAt(
  reader: Reader,
  organizationId: string,
  at: string,
): Promise<Html | false> {
  const answer = await readWarehousesAt(reader, { at, organizationIds: [organizationId], projectId: null });
  const rows = await collectRows(answer.rows);
  return rows.length > 0 && renderVintageMatrix('In the warehouse', rows, { organizationId, at });
}

/** Renders the warehouse credits of a project at an instant, and how complete the mirror's copy of them was. */
export async function renderProjectStockAt(
  { reader, now }: Pick<ConsoleRequest, 'reader' | 'now'>,
  projectId: string,
  at: string,
): Promise<Html> {
  const answer = await readWarehousesAt(reader, { at, organizationIds: null, projectId });
  const rows = await collectRows(answer.rows);
  const credits =
    rows.length === 0
      ? html`<p class="card">Not in any warehouse at that time.</p>`
      : renderVintageMatrix('In the warehouses', rows, { isOneProject: true, at });
  return html`${credits}${renderAnswerNotes(answer, now)}${renderGaps(answer)}`;
}
