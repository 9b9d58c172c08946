import { type Available, type LeftOut, readAvailable } from '../../query/available.js';
import { type OrganizationStatus, readStatus, type Status } from '../../query/status.js';
import { type Ask, page, type Shown } from '../page.js';
import { html, type Html } from '../parts/html.js';
import { table } from '../parts/table.js';
import { stretch } from '../../text/stretch.js';
import { withThousands } from '../../text/thousands.js';
import { tonnesOf } from '../../text/tonnes.js';
import { ago, badge, counted, shown } from '../parts/words.js';
import { findStuck, type Stuck } from './stuck.js';

interface Now {
  readonly status: Status;
  readonly available: Available;
}

const EVERYTHING = { organizationId: null, maxAgeSeconds: null };

export const NOW = page('/', read, show);

async function read({ reader, now }: Ask): Promise<Now> {
  return { status: await readStatus(reader, now), available: await readAvailable(reader, EVERYTHING) };
}

function show({ status, available }: Now, { now }: Ask): Shown {
  const stuck = findStuck(status, now);
  const body = html`<h1 id="sentence" data-live>${sentence({ status, available }, stuck)}</h1>
<section id="stuck" data-live>${stuck.length > 0 && stuckList(stuck)}</section>
<section id="forsale" data-live>${table(
    'What can be sold now, by organization, project and vintage',
    [
      { name: 'Organization', cell: row => shown(row['organization_name'] ?? row['organization_id']) },
      { name: 'Project', cell: row => shown(row['project_name'] ?? row['project_id']) },
      { name: 'Vintage', cell: row => shown(row['vintage']) },
      { name: 'Type', cell: row => shown(row['type']) },
      { name: 'Tonnes', cell: row => tonnesOf(microOf(row)), numeric: true },
      { name: 'Read', cell: row => ago(textOf(row['complete_at']), now) },
    ],
    available.rows,
  )}</section>
<section id="leftout" data-live>${available.leftOut.length > 0 && leftOutTable(available.leftOut, now)}</section>
<section id="glance" data-live>${glance(status.organizations)}</section>
<section id="refused" data-live>${refused(status, now)}</section>`;
  return { title: 'Now', body };
}

/** True in every state, and each number leads to where it comes from. */
function sentence({ status, available }: Now, stuck: readonly Stuck[]): Html {
  if (status.organizations.length === 0)
    return html`Nothing is mirrored yet: no organization has installed the app.`;
  const all = available.rows.reduce((sum, row) => sum + microOf(row), 0n);
  const ages = warehouseAges(status.organizations);
  const organizations = counted(available.warehouses, 'organization');
  return html`<a href="#forsale">${tonnesOf(all)} t</a> for sale now in <a href="#glance">${withThousands(ages.length)} of ${organizations}</a>.
${ages.length > 0 && html`Freshest ${stretch(Math.min(...ages))}, oldest ${stretch(Math.max(...ages))}.`}
${notSummed(available)}
${available.leftOut.length > 0 && html`<a href="#leftout">${leftOutWords(available.leftOut)}</a>`}
${stuck.length === 0 ? 'Nothing is stuck.' : html`<a href="#stuck">${counted(stuck.length, 'thing is', 'things are')} stuck.</a>`}`;
}

function notSummed({ rows }: Available): Html | false {
  const left = rows.reduce((sum, row) => sum + Number(row['rows_not_summed']), 0);
  return left > 0 && html`${counted(left, 'row has', 'rows have')} no amount that can be added.`;
}

function leftOutWords([first, ...others]: readonly LeftOut[]): string {
  if (first === undefined) return '';
  const name = first.organizationName ?? first.organizationId;
  const more = others.length === 0 ? '' : `, and ${counted(others.length, 'other')}`;
  return `${name} is left out: ${first.error ?? first.state}${more}.`;
}

function warehouseAges(organizations: readonly OrganizationStatus[]): number[] {
  return organizations.flatMap(({ resources }) =>
    resources.flatMap(({ resource, state, ageSeconds }) =>
      resource === 'warehouse' && state === 'current' && ageSeconds !== null ? [ageSeconds] : [],
    ),
  );
}

function stuckList(stuck: readonly Stuck[]): Html {
  return html`<h2>What is stuck</h2><ul class="stuck">${stuck.map(
    ({ what, todo, href }) => html`<li><a href="${href}">${what}</a>. ${todo}</li>`,
  )}</ul>`;
}

function leftOutTable(leftOut: readonly LeftOut[], now: number): Html {
  return table(
    'What is known and is not for sale now',
    [
      {
        name: 'Organization',
        cell: ({ organizationName, organizationId }) => organizationName ?? organizationId,
      },
      { name: 'State', cell: ({ state }) => badge(state) },
      { name: 'Known', cell: ({ completeAt }) => ago(completeAt, now) },
      { name: 'Rows', cell: ({ rows }) => withThousands(rows), numeric: true },
      { name: 'Why', cell: ({ error }) => error },
    ],
    leftOut,
  );
}

function glance(organizations: readonly OrganizationStatus[]): Html {
  const names = [
    ...new Set(organizations.flatMap(({ resources }) => resources.map(({ resource }) => resource))),
  ];
  return table(
    'Every organization and what is known of it',
    [
      {
        name: 'Organization',
        cell: ({ organizationId, name }) =>
          html`<a href="/organizations/${encodeURIComponent(organizationId)}">${name ?? organizationId}</a>`,
      },
      { name: 'Installation', cell: ({ state }) => badge(state) },
      ...names.map(resource => ({
        name: resource.replaceAll('_', ' '),
        cell: ({ resources }: OrganizationStatus) => {
          const own = resources.find(each => each.resource === resource);
          return own !== undefined && html`${badge(own.state)} ${withThousands(own.rows)}`;
        },
      })),
    ],
    organizations,
  );
}

function refused({ refused: sums }: Status, now: number): Html | false {
  if (sums.length === 0) return false;
  return table(
    'Posts that were refused since yesterday',
    [
      { name: 'Posts', cell: ({ posts }) => withThousands(posts), numeric: true },
      { name: 'Answer', cell: ({ status }) => status },
      { name: 'Why', cell: ({ reason }) => reason },
      { name: 'Newest', cell: ({ newestAt }) => ago(newestAt, now) },
    ],
    sums,
  );
}

type Row = Available['rows'][number];

function microOf(row: Row): bigint {
  const micro = row['amount_micro'];
  return typeof micro === 'number' || typeof micro === 'bigint' ? BigInt(micro) : 0n;
}

function textOf(value: Row[string] | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
