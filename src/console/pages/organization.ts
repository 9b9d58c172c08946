import { countAt, readKnownAt, readLastReadBefore } from '../../query/history/as-of.js';
import { ALL_CHANGES, readNewest } from '../../query/history/changes.js';
import { sentenceOf } from '../../query/freshness.js';
import { type OrganizationStatus, readOrganization } from '../../query/reads/status.js';
import { ownerOf } from '../../resources/entry.js';
import { ENTRY_OF } from '../../resources/resources.js';
import { withThousands } from '../../text/thousands.js';
import { ALL_LISTS } from '../../query/lists/lists.js';
import { button } from '../actions/button.js';
import { type Ask, page, type Shown } from '../page.js';
import { withAt } from '../components/as-of.js';
import { activity, groupsOf } from '../components/changes.js';
import { head } from '../components/head.js';
import { standing } from '../components/freshness.js';
import { html, type Html } from '../components/html.js';
import { table } from '../components/table.js';
import { counted } from '../../text/counted.js';
import { ago, badge } from '../components/words.js';

const CHANGES = 200;
const GROUPS = 10;

interface Stood {
  readonly resource: string;
  readonly rows: number;
  readonly unknown: string | null;
  readonly lastRead: string | null;
}

export const ORGANIZATION = page('/organizations/:id', read, show, { isDated: true });

interface Known extends OrganizationStatus {
  readonly organizationId: string;
}

async function read({ reader, params }: Ask): Promise<Known | null> {
  const { id: organizationId = '' } = params;
  const found = await readOrganization(reader, organizationId);
  return found === null ? null : { ...found, organizationId };
}

async function readStood({ reader }: Ask, organizationId: string, at: string): Promise<Stood[]> {
  const stood: Stood[] = [];
  for (const [resource, entry] of Object.entries(ENTRY_OF)) {
    const owner = ownerOf(entry);
    if (owner === null) continue;
    stood.push({
      resource,
      rows: await countAt(reader, entry.table, owner, { organizationId, at }),
      unknown: (await readKnownAt(reader, { organizationId, resource, at })).unknown,
      lastRead: await readLastReadBefore(reader, { organizationId, resource, at }),
    });
  }
  return stood;
}

function show(answer: Known, ask: Ask): Shown {
  const { now, at, canAct } = ask;
  const { organizationId, name, state } = answer;
  const called = name ?? organizationId;
  const lists = ALL_LISTS.filter(
    ({ filters, past }) =>
      filters['organization_id']?.column === 'organization_id' && (at === null || past !== null),
  );
  const href = (path: string) => withAt(`/${path}?organization_id=${encodeURIComponent(organizationId)}`, at);
  const top = html`${head([withAt('/organizations', at), 'Organizations'], called, at === null && badge(state))}
<ul class="links no-paper">${lists.map(({ name: list, title }) => html`<li><a href="${href(list)}">${title}</a></li>`)}${at === null && html`<li><a href="${href('changes')}">Changes</a></li>`}</ul>`;
  if (at !== null) {
    return {
      title: called,
      body: top,
      later: async () => known(await readStood(ask, organizationId, at)),
    };
  }
  const body = html`${top}
<section id="resources" data-live>${resources(answer, now)}</section>
<section class="links">${certificates(answer)} ${button(canAct, '/read-now', 'Read it now', { organization_id: organizationId })}</section>`;
  const asked = { ...ALL_CHANGES, organizationId };
  const later = async () =>
    html`<section id="moved" data-live>${activity('Its last changes', groupsOf(await readNewest(ask.reader, asked, null, CHANGES)).slice(0, GROUPS), now)}</section>`;
  return { title: called, body, later };
}

function resources({ resources: all }: OrganizationStatus, now: number): Html {
  return table(
    'What is known of it, and since when',
    [
      { name: 'Resource', cell: ({ resource }) => resource.replaceAll('_', ' ') },
      { name: 'State', cell: standing },
      { name: 'Rows', cell: ({ rows }) => withThousands(rows), numeric: true },
      { name: 'Last complete read', cell: ({ asOf }) => ago(asOf, now) },
      { name: 'Drift', cell: ({ driftTotal }) => withThousands(driftTotal), numeric: true },
      { name: 'Why', cell: sentenceOf },
      { name: 'Fails since', cell: ({ failingSince }) => failingSince !== null && ago(failingSince, now) },
    ],
    all,
  );
}

function known(stood: readonly Stood[]): Html {
  return table(
    'What was known of it then',
    [
      { name: 'Resource', cell: ({ resource }) => resource.replaceAll('_', ' ') },
      { name: 'Rows', cell: ({ rows }) => withThousands(rows), numeric: true },
      { name: 'Last complete read by then', cell: ({ lastRead }) => lastRead ?? 'none on record' },
      { name: 'What cannot be known', cell: ({ unknown }) => unknown },
    ],
    stood,
  );
}

function certificates({ certificates: counts }: OrganizationStatus): Html {
  return html`<span id="certificates" data-live>${Object.entries(counts)
    .map(([of, count]) => `${counted(count, 'certificate')} ${of}`)
    .join(', ')}</span>`;
}
