import { type OrganizationStatus, readStatus } from '../../query/status.js';
import { LISTINGS } from '../lists/listings.js';
import { type Ask, page, type Shown } from '../page.js';
import { html } from '../parts/html.js';
import { table } from '../parts/table.js';
import { withThousands } from '../../text/thousands.js';
import { ago, badge, counted } from '../parts/words.js';

export const ORGANIZATION = page('/organizations/:id', read, show);

async function read({ reader, now, params }: Ask): Promise<OrganizationStatus | null> {
  const { organizations } = await readStatus(reader, now);
  return organizations.find(({ organizationId }) => organizationId === params['id']) ?? null;
}

function show(
  { organizationId, name, state, resources, certificates }: OrganizationStatus,
  { now }: Ask,
): Shown {
  const lists = LISTINGS.filter(({ filters }) => filters.includes('organization_id'));
  const body = html`<h1 id="sentence" data-live>${name ?? organizationId} ${badge(state)}</h1>
<ul class="under">${lists.map(
    ({ path, title }) =>
      html`<li><a href="/${path}?organization_id=${encodeURIComponent(organizationId)}">${title}</a></li>`,
  )}</ul>
<section id="resources" data-live>${table(
    'What is known of it, and since when',
    [
      { name: 'Resource', cell: ({ resource }) => resource.replaceAll('_', ' ') },
      { name: 'State', cell: each => badge(each.state) },
      { name: 'Rows', cell: ({ rows }) => withThousands(rows), numeric: true },
      { name: 'Last complete read', cell: ({ completeAt }) => ago(completeAt, now) },
      { name: 'Drift', cell: ({ drift }) => withThousands(drift), numeric: true },
      { name: 'Fault', cell: ({ error }) => error },
    ],
    resources,
  )}</section>
<section id="certificates" data-live><h2>Certificates</h2><p>${Object.entries(certificates)
    .map(([of, count]) => `${counted(count, 'certificate')} ${of}`)
    .join(', ')}</p></section>`;
  return { title: name ?? organizationId, body };
}
