import { countAt, readKnownOf } from '../../query/history/as-of.js';
import { ALL_CHANGES, readNewest } from '../../query/history/changes.js';
import { sentenceOf } from '../../query/freshness/words.js';
import { type OrganizationStatus, readOrganization, worstOf } from '../../query/status.js';
import { findOwnerColumn } from '../../resources/entry.js';
import { ENTRY_BY_RESOURCE } from '../../resources/resources.js';
import { formatWithCommas } from '../../text/numbers.js';
import { ALL_LISTS, ORGANIZATIONS } from '../../query/lists/lists.js';
import { readOrganizationNames } from '../../query/names.js';
import { renderButton } from '../actions/button.js';
import type { PageRequest, ConsolePage, PageContent } from '../page.js';
import { withAsOf } from '../components/as-of.js';
import { renderChangeFeed, groupChanges } from '../components/changes.js';
import { renderPageHead } from '../components/head.js';
import { renderFreshnessState } from '../components/freshness.js';
import { html, type Html } from '../components/html.js';
import { renderTable } from '../components/table.js';
import { renderTermLabel } from '../components/terms.js';
import { renderAge, renderBadge, renderCertificateCounts } from '../components/formats.js';
import { redirectByIdPrefix } from './by-id.js';
import { renderAvailability } from './by-vintage.js';

const CHANGES = 200;
const GROUPS = 10;

export const ORGANIZATION: ConsolePage = {
  path: '/organizations/:id',
  hasHistory: true,
  render: async request => {
    const { id = '' } = request.params;
    const found = await readOrganization(request.reader, id);
    if (found !== null) return await renderOrganization(found, id, request);
    return await redirectByIdPrefix(
      ORGANIZATIONS,
      request,
      (await readOrganizationNames(request.reader)).map(each => each.id),
    );
  },
};

async function renderOrganization(
  answer: OrganizationStatus,
  id: string,
  request: PageRequest,
): Promise<PageContent> {
  const { reader, now, at, canAct } = request;
  const title = answer.name ?? id;
  const href = (path: string) => withAsOf(`/${path}?organization_id=${encodeURIComponent(id)}`, at);
  const lists = ALL_LISTS.filter(
    ({ filters, past, resource }) =>
      filters['organization_id']?.column === 'organization_id' &&
      (at === null ? resource === null : past !== null),
  );
  const links = [...lists, ...(at === null ? [{ name: 'changes', title: 'Changes' }] : [])];
  const top = html`${renderPageHead([withAsOf('/organizations', at), 'Organizations'], title, at === null && (answer.state === 'active' ? renderFreshnessState(worstOf(answer)) : renderBadge(answer.state)))}
<ul class="links no-paper">${links.map(list => html`<li><a href="${href(list.name)}">${list.title}</a></li>`)}${at === null && html`<li><a href="${href('jobs')}&amp;state=waiting">Next reads</a></li>`}</ul>`;
  if (at !== null) return { title, body: top, renderRest: () => renderKnownAt(request, id, at) };
  const body = html`${top}
<section id="available" data-live>${await renderAvailability(reader, { organizationId: id })}</section>
<section id="resources" data-live>${renderResources(answer, href, now)}</section>
<section class="links"><span id="certificates" data-live>${renderCertificateCounts(answer.certificates, id)}</span> ${renderButton(canAct, '/read-now', 'Read now', { organization_id: id })}</section>`;
  const later = async () => {
    const changes = await readNewest(reader, { ...ALL_CHANGES, organizationId: id }, null, CHANGES);
    return html`<section id="moved" data-live>${renderChangeFeed('Recent changes', groupChanges(changes).slice(0, GROUPS), { now, owner: id })}</section>`;
  };
  return { title, body, renderRest: later };
}

const ROWS = {
  name: 'Rows',
  cell: ({ rows }: { readonly rows: number }) => formatWithCommas(rows),
  numeric: true,
};

function renderResources(
  { resources: all }: OrganizationStatus,
  href: (path: string) => string,
  now: number,
): Html {
  const linked = (resource: string) => {
    const name = resource.replaceAll('_', ' ');
    const list = ALL_LISTS.find(each => each.resource === resource && each.filters['organization_id']);
    return list === undefined ? name : html`<a href="${href(list.name)}">${name}</a>`;
  };
  return renderTable(
    'Data freshness',
    [
      { name: 'Resource', cell: ({ resource }) => linked(resource) },
      { name: 'State', cell: renderFreshnessState },
      ROWS,
      { name: 'Last complete read', cell: ({ as_of: at }) => renderAge(at, now) },
      {
        name: 'Drift',
        heading: renderTermLabel('drift', 'Drift'),
        cell: ({ drift_total: drift }) => formatWithCommas(drift),
        numeric: true,
      },
      { name: 'Reason', cell: sentenceOf },
      { name: 'Failing since', cell: ({ failing_since: since }) => since !== null && renderAge(since, now) },
    ],
    all,
  );
}

async function renderKnownAt({ reader }: PageRequest, organizationId: string, at: string): Promise<Html> {
  const stood = [];
  for (const [resource, entry] of Object.entries(ENTRY_BY_RESOURCE)) {
    if (findOwnerColumn(entry) === null) continue;
    const read = await readKnownOf(reader, { organizationId, resource, at });
    const rows = await countAt(reader, entry, { organizationId, at });
    stood.push({ ...read, resource, rows });
  }
  return renderTable(
    'Known data at that time',
    [
      { name: 'Resource', cell: ({ resource }) => resource.replaceAll('_', ' ') },
      ROWS,
      { name: 'Last complete read', cell: ({ lastRead }) => lastRead ?? 'not recorded' },
      { name: 'Known gap', cell: ({ unknown }) => unknown },
    ],
    stood,
  );
}
