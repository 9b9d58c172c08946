import type { Available, LeftOut } from '../../query/available.js';
import { sentenceOf, wordsOf } from '../../query/freshness.js';
import { findTroubles, type Trouble } from '../../query/inbox/troubles.js';
import { MOST_RESERVATIONS, type Overview, readOverview, type Reservation } from '../../query/overview.js';
import type { OrganizationStatus } from '../../query/reads/status.js';
import { ofKnown } from '../../text/known.js';
import { stretch } from '../../text/stretch.js';
import { withThousands } from '../../text/thousands.js';
import { sumByType } from '../../text/tonnes.js';
import { button } from '../actions/button.js';
import type { Ask, Page, Shown } from '../page.js';
import { sentences } from '../components/changes.js';
import { standing } from '../components/freshness.js';
import { html, type Html, type Part } from '../components/html.js';
import { rejectedTable } from '../components/rejected.js';
import { firstOf, mostOf, table } from '../components/table.js';
import { counted } from '../../text/counted.js';
import { ago, badge } from '../components/words.js';
import { availableNow, leftOut } from './available.js';
import { invitation } from './invitation.js';
import { showThen } from './then.js';

export const NOW: Page = {
  path: '/',
  isDated: true,
  show: async ask => {
    const { reader, now, at, query } = ask;
    return at === null ? show(await readOverview(reader, now, mostOf(query)), ask) : showThen(ask, at);
  },
};

function show(answer: Overview, ask: Ask): Shown {
  const { now, canAct, webhookUrl } = ask;
  const { activity, available, reservations, changes } = answer;
  const { newestDeliveryAt } = activity;
  const isEmpty = countOf(available) === 0;
  const troubles = findTroubles(activity, now);
  const body = html`<h1 id="sentence" data-live>${sentence(answer, troubles)}</h1>
<section id="invitation" data-live>${isEmpty && invitation(webhookUrl, newestDeliveryAt, now)}</section>
<section id="attention" data-live>${troubles.length > 0 && troubleList(troubles, canAct)}</section>
<section id="available" data-live>${availableNow(available, ask)}</section>
<section id="leftout" data-live>${leftOut(available.leftOut, ask)}</section>
<section id="reservations" data-live>${reserved(reservations, now)}</section>
<section id="moved" data-live>${sentences('What moved last', changes, now)}${changes.length > 0 && html`<p class="under"><a href="/changes">All of the last day</a></p>`}</section>
<section id="glance" data-live>${!isEmpty && glance(answer, ask)}${certificates(answer)}</section>
${!isEmpty && html`${button(canAct, '/read-now', 'Read everything now')}`}
<section id="rejected" data-live>${rejectedTable(activity.rejectedWebhooks, now)}</section>`;
  return { title: 'Now', body };
}

function countOf({ known, uninstalled }: Available): number {
  return known + uninstalled;
}

/** True in every state, and each number leads to where it comes from. */
function sentence({ available }: Overview, troubles: readonly Trouble[]): Html {
  const attention =
    troubles.length === 0
      ? 'Nothing needs attention.'
      : html`<a href="#attention">${counted(troubles.length, 'thing needs', 'things need')} attention.</a>`;
  if (countOf(available) === 0)
    return html`Nothing is mirrored yet: no organization is known to have installed the app. ${attention}`;
  const ages = available.warehouses.flatMap(({ ageSeconds }) => ageSeconds ?? []);
  const organizations = ofKnown(available.known);
  const where = available.rows.length === 0 ? '/warehouse' : '#available';
  return html`<a href="${where}">${sumByType(available.rows)}</a> available to sell now in <a href="#glance">${withThousands(ages.length)} of ${organizations}</a>.
${ages.length > 0 && html`Freshest <a href="#glance">${stretch(Math.min(...ages))}</a>, oldest <a href="#glance">${stretch(Math.max(...ages))}</a>.`}
${notSummed(available)}
${available.leftOut.length > 0 && html`<a href="#leftout">${leftOutWords(available.leftOut)}</a>`}
${attention}`;
}

function notSummed({ rows }: Available): Html | false {
  const left = rows.reduce((sum, row) => sum + Number(row['rows_without_amount']), 0);
  return (
    left > 0 &&
    html`<a href="#available">${counted(left, 'row has', 'rows have')} no amount that can be added.</a>`
  );
}

function leftOutWords([first, ...others]: readonly LeftOut[]): string {
  if (first === undefined) return '';
  const name = first.organizationName ?? first.organizationId ?? first.installationId;
  const more = others.length === 0 ? '' : `, and ${counted(others.length, 'other')}`;
  return `${name} is left out: ${sentenceOf(first) ?? wordsOf(first)}${more}.`;
}

function troubleList(troubles: readonly Trouble[], canAct: boolean): Html {
  return html`<h2>What needs attention</h2><ul class="troubles">${troubles.map(
    ({ found, todo, href }) => html`<li><a href="${href}">${found}</a>. ${todo}${ACTS[href]?.(canAct)}</li>`,
  )}</ul>`;
}

/** What can be done here about what a page shows. */
const ACTS: Readonly<Record<string, (canAct: boolean) => Part>> = {
  '/jobs?state=failed': canAct => button(canAct, '/jobs/retry', 'Try them again'),
  '/jobs?state=paused': canAct => button(canAct, '/read-now', 'Read now'),
};

function reserved(reservations: readonly Reservation[], now: number): Html | false {
  if (reservations.length === 0) return false;
  const what = 'Reserved credits, which are in no warehouse meanwhile';
  const hasMore = reservations.length > MOST_RESERVATIONS;
  return html`${table(
    hasMore ? `${what}: the ${MOST_RESERVATIONS} that end first` : what,
    [
      { name: 'Ends', cell: row => ago(row.reserved_to_at, now) },
      { name: 'Tonnes', cell: row => row.amount_exact, numeric: true },
      { name: 'Project', cell: row => row.project_name ?? row.project_id },
      { name: 'Organization', cell: row => row.organization_name ?? row.organization_id },
      { name: 'By', cell: row => row.reserver_name },
    ],
    reservations.slice(0, MOST_RESERVATIONS),
  )}${hasMore && html`<p class="under"><a href="/reservations">All reservations</a></p>`}`;
}

function glance({ organizations, available }: Overview, { query }: Ask): Html {
  const names = [
    ...new Set(organizations.flatMap(({ resources }) => resources.map(({ resource }) => resource))),
  ];
  return firstOf(
    'Every organization and what is known of it, trouble first',
    [
      {
        name: 'Organization',
        cell: ({ organizationId, installationId, name }) =>
          organizationId === null
            ? installationId
            : html`<a href="/organizations/${encodeURIComponent(organizationId)}">${name ?? organizationId}</a>`,
      },
      { name: 'Installation', cell: ({ state }) => badge(state) },
      ...names.map(resource => ({
        name: resource.replaceAll('_', ' '),
        cell: ({ resources }: OrganizationStatus) => {
          const own = resources.find(each => each.resource === resource);
          return own !== undefined && html`${standing(own)} ${withThousands(own.rows)}`;
        },
      })),
    ],
    organizations,
    query,
    countOf(available),
  );
}

function certificates({ certificates: counts }: Overview): Html | false {
  const links = Object.entries(counts).map(([state, count], index) => {
    const says = html`${withThousands(count)} ${state.replaceAll('_', ' ')}`;
    const link = state === 'unclaimed' ? says : html`<a href="/certificates?state=${state}">${says}</a>`;
    return html`${index > 0 && ', '}${link}`;
  });
  return links.length > 0 && html`<p>Certificates: ${links}.</p>`;
}
