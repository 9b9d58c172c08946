import { collectRows, type Totals } from '../../query/answer/answer.js';
import { formatAmounts, describeExcludedRows } from '../../query/answer/describe-totals.js';
import { readInactiveAt } from '../../query/history/inactive-at.js';
import { answerResourcesAt } from '../../query/history/resources-at.js';
import { ALL_CHANGES, readNewest } from '../../query/history/changes.js';
import { describeListState, type OrganizationStatus, readOrganization, worstOf } from '../../query/status.js';
import { ALL_LISTS, ORGANIZATIONS } from '../../query/lists/list-definitions.js';
import { readOrganizationNames } from '../../query/names.js';
import { renderButton } from '../actions/button.js';
import type { ConsoleRequest, ConsolePage, PageContent } from '../page.js';
import { renderAnswerNotes, renderGaps } from '../components/answer.js';
import { withAsOf } from '../components/as-of.js';
import { renderChangeFeed, groupChanges } from '../components/change-feed.js';
import { renderPageHead } from '../components/detail-page.js';
import { renderFreshnessState } from '../components/freshness.js';
import { html, type Html, type HtmlContent } from '../components/html.js';
import { renderTable } from '../components/table.js';
import { renderCount } from '../components/table-cell.js';
import { renderTermLabel } from '../components/glossary.js';
import { renderCertificateCounts } from '../components/certificate-counts.js';
import { renderBadge } from '../components/badges.js';
import { renderAge, renderInstantsIn } from '../components/instants.js';
import { redirectByIdPrefix } from './redirect-by-id.js';
import { renderOrganizationAvailability, renderOrganizationStockAt } from './availability.js';

const MAX_CHANGES = 200;
const MAX_CHANGE_GROUPS = 10;

/** The page of an organization: its available credits, how fresh its data is, and its recent changes. */
export const ORGANIZATION: ConsolePage = {
  path: '/organizations/:id',
  hasHistory: true,
  render: async request => {
    const { id = '' } = request.params;
    const status = await readOrganization(request.reader, id);
    if (status !== null) return await renderOrganization(status, id, request);
    const organizations = await readOrganizationNames(request.reader);
    return await redirectByIdPrefix(
      ORGANIZATIONS,
      request,
      organizations.map(organization => organization.id),
    );
  },
};

/** Renders the detail page of an organization, now or at the past instant `request.at`. */
async function renderOrganization(
  status: OrganizationStatus,
  id: string,
  request: ConsoleRequest,
): Promise<PageContent> {
  const { reader, now, at } = request;
  const title = status.name ?? id;
  const toListHref = (list: string) => withAsOf(`/${list}?organization_id=${encodeURIComponent(id)}`, at);
  const lists = ALL_LISTS.filter(
    ({ filters, past, resource }) =>
      filters['organization_id']?.column === 'organization_id' &&
      (at === null ? resource === null : past !== null),
  );
  const links = [...lists, ...(at === null ? [{ name: 'changes', title: 'Changes' }] : [])];
  const state = at === null ? renderState(status) : await renderStateAt(request, id, at);
  const listLink = { href: withAsOf('/organizations', at), title: 'Organizations' };
  const top = html`${renderPageHead(listLink, title, state)}
<ul class="links no-paper">${links.map(list => html`<li><a href="${toListHref(list.name)}">${list.title}</a></li>`)}${at === null && html`<li><a href="${toListHref('jobs')}&amp;state=waiting">Next reads</a></li>`}</ul>`;
  if (at !== null)
    return { title, body: top, renderRest: () => renderResourcesAt(request, id, { at, toListHref }) };
  const body = html`${top}
<section id="available" data-live>${await renderOrganizationAvailability(reader, id)}</section>
<section id="resources" data-live>${renderResources(status, toListHref, now)}</section>
<section class="links"><span id="certificates" data-live>${renderCertificateCounts(status.certificates, id)}</span> ${renderButton(request, '/read-now', 'Read now', { organization_id: id })}</section>`;
  return { title, body, renderRest: () => renderRecentChanges(request, id) };
}

/** Renders the state of an organization now: of its data if the app is active, otherwise of its installation. */
function renderState(status: OrganizationStatus): Html {
  return status.state === 'active' ? renderFreshnessState(worstOf(status)) : renderBadge(status.state);
}

/** Renders that an organization had suspended or removed the app at a past instant. Returns false if it had not. */
async function renderStateAt(
  { reader }: ConsoleRequest,
  organizationId: string,
  at: string,
): Promise<Html | false> {
  const [inactive] = await readInactiveAt(reader, at, organizationId);
  return (
    inactive !== undefined &&
    html`${renderBadge(inactive.state, 'doubt')} at that time, so its credits could not be sold.`
  );
}

/** Renders the latest changes in the lists of an organization. */
async function renderRecentChanges({ reader, now }: ConsoleRequest, organizationId: string): Promise<Html> {
  const changes = await readNewest(reader, { ...ALL_CHANGES, organizationId }, null, MAX_CHANGES);
  const groups = groupChanges(changes).slice(0, MAX_CHANGE_GROUPS);
  return html`<section id="moved" data-live>${renderChangeFeed('Recent changes', groups, { now, ownerId: organizationId })}</section>`;
}

const ROW_COUNT_COLUMN = {
  name: 'Rows',
  cell: ({ rows }: { readonly rows: number }) => renderCount(rows),
  numeric: true,
};

/** Renders the name of a resource. The name links to the list of the resource, if that list can be filtered by organization. */
function renderResourceLink(resource: string, toListHref: (list: string) => string): HtmlContent {
  const label = resource.replaceAll('_', ' ');
  const list = ALL_LISTS.find(each => each.resource === resource && each.filters['organization_id']);
  return list === undefined ? label : html`<a href="${toListHref(list.name)}">${label}</a>`;
}

/** Renders a table of an organization's resources, with how fresh the mirror's copy of each is. */
function renderResources(
  { resources }: OrganizationStatus,
  toListHref: (list: string) => string,
  now: number,
): Html {
  return renderTable(
    'Data freshness',
    [
      { name: 'Resource', cell: ({ resource }) => renderResourceLink(resource, toListHref) },
      { name: 'State', cell: renderFreshnessState },
      ROW_COUNT_COLUMN,
      { name: 'Last complete read', cell: ({ as_of: at }) => renderAge(at, now) },
      {
        name: 'Drift',
        heading: renderTermLabel('drift', 'Drift'),
        cell: ({ drift_total: drift }) => renderCount(drift),
        numeric: true,
      },
      { name: 'Reason', cell: list => renderInstantsIn(describeListState(list) ?? '') },
      { name: 'Failing since', cell: ({ failing_since: since }) => since !== null && renderAge(since, now) },
    ],
    resources,
  );
}

/**
 * Renders an organization's warehouse at an instant, then a table of its resources with their rows, tonnes and last complete
 * reads. Notes below the table say what was not known.
 */
async function renderResourcesAt(
  { reader, now }: ConsoleRequest,
  organizationId: string,
  { at, toListHref }: { readonly at: string; readonly toListHref: (list: string) => string },
): Promise<Html> {
  const stock = await renderOrganizationStockAt(reader, organizationId, at);
  const answer = await answerResourcesAt(reader, organizationId, at);
  const table = renderTable(
    'Known data at that time',
    [
      { name: 'Resource', cell: ({ resource }) => renderResourceLink(resource, toListHref) },
      ROW_COUNT_COLUMN,
      { name: 'Tonnes', cell: ({ totals }) => totals !== null && renderTonnesOf(totals) },
      {
        name: 'Last complete read',
        cell: ({ lastReadAt }) => renderInstantsIn(lastReadAt ?? 'not recorded'),
      },
    ],
    await collectRows(answer.rows),
  );
  return html`${stock}${table}${renderAnswerNotes(answer, now)}${renderGaps(answer)}`;
}

/** Renders the amounts of a list by credit type, and how many rows are in no amount. */
function renderTonnesOf({ amounts, rowsWithoutAmount }: Totals): Html {
  return html`${formatAmounts(amounts ?? [])}${describeExcludedRows([{ rows_without_amount: rowsWithoutAmount }])}`;
}
