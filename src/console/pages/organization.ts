import { countAt, readKnownOf } from '../../query/history/as-of.js';
import { ALL_CHANGES, readNewest } from '../../query/history/changes.js';
import { sentenceOf } from '../../query/freshness/words.js';
import { type OrganizationStatus, readOrganization, worstOf } from '../../query/status.js';
import { ownerColumn } from '../../resources/entry.js';
import { ENTRY_BY_RESOURCE } from '../../resources/resources.js';
import { withThousands } from '../../text/numbers.js';
import { ALL_LISTS, ORGANIZATIONS } from '../../query/lists/lists.js';
import { readOrganizationNames } from '../../query/names.js';
import { button } from '../actions/button.js';
import type { Ask, Page, Shown } from '../page.js';
import { withAt } from '../components/as-of.js';
import { feed, groupsOf } from '../components/changes.js';
import { head } from '../components/head.js';
import { standing } from '../components/freshness.js';
import { html, type Html } from '../components/html.js';
import { table } from '../components/table.js';
import { termLabel } from '../components/terms.js';
import { ago, badge, certificateCounts } from '../components/words.js';
import { leadOn } from './by-id.js';
import { available } from './by-vintage.js';

const CHANGES = 200;
const GROUPS = 10;

export const ORGANIZATION: Page = {
  path: '/organizations/:id',
  isDated: true,
  show: async ask => {
    const { id = '' } = ask.params;
    const found = await readOrganization(ask.reader, id);
    if (found !== null) return await show(found, id, ask);
    return await leadOn(
      ORGANIZATIONS,
      ask,
      (await readOrganizationNames(ask.reader)).map(each => each.id),
    );
  },
};

async function show(answer: OrganizationStatus, id: string, ask: Ask): Promise<Shown> {
  const { reader, now, at, canAct } = ask;
  const title = answer.name ?? id;
  const href = (path: string) => withAt(`/${path}?organization_id=${encodeURIComponent(id)}`, at);
  const lists = ALL_LISTS.filter(
    ({ filters, past, resource }) =>
      filters['organization_id']?.column === 'organization_id' &&
      (at === null ? resource === null : past !== null),
  );
  const links = [...lists, ...(at === null ? [{ name: 'changes', title: 'Changes' }] : [])];
  const top = html`${head([withAt('/organizations', at), 'Organizations'], title, at === null && (answer.state === 'active' ? standing(worstOf(answer)) : badge(answer.state)))}
<ul class="links no-paper">${links.map(list => html`<li><a href="${href(list.name)}">${list.title}</a></li>`)}${at === null && html`<li><a href="${href('jobs')}&amp;state=waiting">Next reads</a></li>`}</ul>`;
  if (at !== null) return { title, body: top, later: () => known(ask, id, at) };
  const body = html`${top}
<section id="available" data-live>${await available(reader, { organizationId: id })}</section>
<section id="resources" data-live>${resources(answer, href, now)}</section>
<section class="links"><span id="certificates" data-live>${certificateCounts(answer.certificates, id)}</span> ${button(canAct, '/read-now', 'Read now', { organization_id: id })}</section>`;
  const later = async () => {
    const changes = await readNewest(reader, { ...ALL_CHANGES, organizationId: id }, null, CHANGES);
    return html`<section id="moved" data-live>${feed('Recent changes', groupsOf(changes).slice(0, GROUPS), { now, owner: id })}</section>`;
  };
  return { title, body, later };
}

const ROWS = {
  name: 'Rows',
  cell: ({ rows }: { readonly rows: number }) => withThousands(rows),
  numeric: true,
};

function resources(
  { resources: all }: OrganizationStatus,
  href: (path: string) => string,
  now: number,
): Html {
  const linked = (resource: string) => {
    const name = resource.replaceAll('_', ' ');
    const list = ALL_LISTS.find(each => each.resource === resource && each.filters['organization_id']);
    return list === undefined ? name : html`<a href="${href(list.name)}">${name}</a>`;
  };
  return table(
    'Data freshness',
    [
      { name: 'Resource', cell: ({ resource }) => linked(resource) },
      { name: 'State', cell: standing },
      ROWS,
      { name: 'Last complete read', cell: ({ as_of: at }) => ago(at, now) },
      {
        name: 'Drift',
        heading: termLabel('drift', 'Drift'),
        cell: ({ drift_total: drift }) => withThousands(drift),
        numeric: true,
      },
      { name: 'Reason', cell: sentenceOf },
      { name: 'Failing since', cell: ({ failing_since: since }) => since !== null && ago(since, now) },
    ],
    all,
  );
}

async function known({ reader }: Ask, organizationId: string, at: string): Promise<Html> {
  const stood = [];
  for (const [resource, entry] of Object.entries(ENTRY_BY_RESOURCE)) {
    if (ownerColumn(entry) === null) continue;
    const read = await readKnownOf(reader, { organizationId, resource, at });
    const rows = await countAt(reader, entry, { organizationId, at });
    stood.push({ ...read, resource, rows });
  }
  return table(
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
