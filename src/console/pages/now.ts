import type { StandingSums, Warehouse } from '../../query/available.js';
import { sentenceOf, wordsOf } from '../../query/freshness/words.js';
import { findFailing, findTroubles, type Trouble } from '../../query/inbox/troubles.js';
import { readPulse } from '../../query/inbox/activity.js';
import { readOrigin } from '../../query/names.js';
import { type Charts, readCharts } from '../../query/charts.js';
import { type Overview, readOverview, readSums } from '../../query/overview.js';
import { type OrganizationStatus, worstOf } from '../../query/status.js';
import { formatCount, formatKnownOrganizations, withThousands } from '../../text/numbers.js';
import { formatSumByType, creditTypeName } from '../../text/tonnes.js';
import { button } from '../actions/button.js';
import type { Ask, Page, Shown } from '../page.js';
import { leading, sumsBy, wholeTonnes } from '../components/cell.js';
import { feed, groupsOf } from '../components/changes.js';
import { standing as stateOf } from '../components/freshness.js';
import { html, type Html, type Part } from '../components/html.js';
import { ALL, firstOf, mostOf } from '../components/table.js';
import { ago, capitalized, certificateCounts, outOf, tonnes, wordsAgo } from '../components/words.js';
import { createMemory } from '../memory.js';
import { stockByDay, retiredByMonth } from './charts.js';
import { byVintage } from './by-vintage.js';
import { showThen } from './stood-then.js';

const MOST_ORGANIZATIONS = 8;
const MOST_GROUPS = 4;

const MINUTE_MS = 60_000;
/** Less than it takes until anybody misses a worker, or a read. */
const SUMS_MS = 10_000;

/** Remembers what looks at every row: the charts for a minute, or until an organization comes or goes; how all stand, as long as nothing has changed. */
export function createNow(): Page {
  const charts = createMemory<Charts>(MINUTE_MS);
  const sums = createMemory<Awaited<ReturnType<typeof readSums>>>(SUMS_MS);
  return {
    path: '/',
    isDated: true,
    asks: [ALL],
    show: async ask => {
      const { reader, now, at, query } = ask;
      if (at !== null) return showThen(ask, at);
      const origin = await readOrigin(reader);
      const about = origin !== null && html`<p class="lead">Mirror of ${origin.base_url}</p>`;
      const answer = await readOverview(reader, now, async snapshot => {
        const key = `${mostOf(query)} ${await readPulse(snapshot, now)}`;
        const most = mostOf(query, MOST_ORGANIZATIONS);
        return await sums(now, key, () => readSums(snapshot, most, mostOf(query)));
      });
      const { known, uninstalled } = answer.standing;
      const later = async () =>
        showCharts(await charts(now, `${known} ${uninstalled}`, () => readCharts(reader, now)));
      return { about, ...show(answer, ask), ...(countOf(answer.standing) > 0 && { later }) };
    },
  };
}

function show(answer: Overview, ask: Ask): Shown {
  const { now, canAct, webhookUrl, query } = ask;
  const { activity, standing, sums, changes } = answer;
  const isEmpty = countOf(standing) === 0;
  const troubles = [...findTroubles(activity, now), ...findFailing(answer.failing)];
  const body = html`<div class="stack"><div class="tiles">${hero(answer)}<div id="tiles" data-live>${tiles(answer, troubles, now)}</div></div>
<section id="attention" class="notices" data-live>${notices(troubles, canAct)}</section></div>
<section id="invitation" data-live>${isEmpty && invitation(webhookUrl, activity.newestDeliveryAt, now)}</section>
<div class="columns">
<section id="available" data-live>${sums.length > 0 && byVintage('Available', sums, { query })}</section>
<div class="stack"><section id="glance" data-live>${!isEmpty && glance(answer, ask)}</section>
<section id="moved" data-live>${feed('Recent activity', groupsOf(changes).slice(0, MOST_GROUPS), { now, more: MORE })}</section></div>
</div>
<div id="below" class="stack"><section id="leftout" data-live>${leftOut(standing.leftOut, ask)}</section></div>`;
  return { title: 'Now', body };
}

function showCharts(charts: Charts): Html {
  return html`<section id="charts" class="two" data-live>${stockByDay(charts)}${retiredByMonth(charts)}</section>`;
}

const MORE = html`<p class="more"><a href="/changes">All changes of the last day</a></p>`;

function countOf({ known, uninstalled }: StandingSums): number {
  return known + uninstalled;
}

/** What to do where nothing has come yet, and a light that tells when something does. */
function invitation(webhookUrl: string | null, newestDeliveryAt: string | null, now: number): Html {
  return html`<div class="card"><h2>Set up the registry</h2><ol>
<li>Set the app's webhook URL to ${webhookUrl === null ? 'the address of the receiver' : html`<code>${webhookUrl}</code>, with the public host name of this machine`}.</li>
<li>Install the app on an organization. Its first webhook starts the first read.</li></ol>
<p class="light">${
    newestDeliveryAt === null
      ? html`<span class="state">No webhook has arrived yet.</span>`
      : html`<span class="state good">A webhook arrived ${ago(newestDeliveryAt, now)}.</span> Its organization appears here after its first read.`
  }</p></div>`;
}

/** A number, and of how many organizations; true in every state. */
function hero({ standing, sums }: Overview): Html {
  if (countOf(standing) === 0)
    return html`<h1 id="sentence" class="tile hero" data-live><span><b>Nothing is mirrored yet</b></span> No organization has installed the app yet, as far as the mirror knows.</h1>`;
  return html`<h1 id="sentence" class="tile hero" data-live>${large(formatSumByType(sums))} <span class="of">available to sell now in ${withThousands(standing.available)} of ${formatKnownOrganizations(standing.known)}${outOf(sums)}</span></h1>`;
}

/** A line for each type, its number to be seen from afar. */
function large(sentence: string): Part {
  return sentence.split(/ and |, /).map((line, place) => {
    const [number = '', ...unit] = line.split(' ');
    return html`${place > 0 && html`<span class="unseen"> and </span>`}<span><b>${tonnes(number)}</b> ${unit.join(' ')}</span>`;
  });
}

function tiles(answer: Overview, troubles: readonly Trouble[], now: number): Html {
  const { standing, left, reserved, activity } = answer;
  const { count, seen, worst } = standing.leftOut;
  const [first] = worst;
  const reservations = reserved.reduce((sum, each) => sum + each.rows, 0);
  const [ends = null] = reserved.flatMap(({ first_ends_at: at }) => at ?? []).toSorted();
  const rejected = activity.rejectedWebhooks.reduce((sum, each) => sum + each.rejected, 0);
  return html`${tile(
    'Reserved',
    formatSumByType(reserved),
    reservations === 0
      ? 'no outstanding reservations'
      : html`<a href="/reservations?state=outstanding">${formatCount(reservations, 'reservation')}</a>, the first expires ${ends === null ? 'never' : wordsAgo(ends, now)}${outOf(reserved)}`,
  )}${tile(
    'Not available',
    count > 0 && seen === 0 ? 'unknown' : formatSumByType(left),
    first === undefined
      ? 'all organizations included'
      : html`<a href="#leftout">${nameOf(first)}</a>: ${wordsOf(first)}${count > 1 && `, and ${formatCount(count - 1, 'other')}`}${outOf(left)}`,
  )}${tile(
    'Fresh',
    `${withThousands(standing.available)} of ${withThousands(standing.known)}`,
    html`known organizations${standing.oldest_at !== null && html`, oldest read ${ago(standing.oldest_at, now)}`}${standing.failing > 0 && html`; <a href="/organizations">last read failed in ${withThousands(standing.failing)}</a>`}`,
  )}${tile(
    'Newest webhook',
    activity.newestDeliveryAt === null ? 'none yet' : ago(activity.newestDeliveryAt, now),
    html`<a href="/rejected-webhooks">${withThousands(rejected)} rejected</a> since yesterday`,
  )}${tile('Attention', attention(troubles), html`<a href="/jobs?state=failed">${formatCount(activity.jobs.failed, 'job')} failed</a>, ${withThousands(activity.jobs.due)} due now`)}`;
}

function attention(troubles: readonly Trouble[]): Html {
  if (troubles.length === 0) return html`<span class="good">✓ None</span>`;
  return html`<a class="${troubles.some(each => colourOf(each) === 'bad') ? 'bad' : 'doubt'}" href="#attention">▲ ${formatCount(troubles.length, 'issue')}</a>`;
}

function tile(name: string, value: Part, more: Part): Html {
  return html`<dl class="tile"><dt>${name}</dt><dd>${value}</dd><dd>${more}</dd></dl>`;
}

function nameOf({ organization_name: name, ...own }: Warehouse): string {
  return name ?? own.organization_id ?? own.installation_id;
}

function notices(troubles: readonly Trouble[], canAct: boolean): Html {
  return html`${troubles.map(
    trouble =>
      html`<div class="notice ${colourOf(trouble)}"><strong>${capitalized(trouble.found)}.</strong> <span>${trouble.todo}</span> <a href="${trouble.href}">Details</a> ${ACTS[trouble.href]?.(canAct)}${trouble.command !== null && html`<details><summary>Command</summary><code>${trouble.command}</code></details>`}</div>`,
  )}`;
}

/** Where nothing is done any more, and where something failed for good. */
function colourOf({ check, href }: Trouble): 'bad' | 'doubt' {
  return check === 'worker' || href.endsWith('failed') ? 'bad' : 'doubt';
}

/** What can be done here about what a page shows. */
const ACTS: Readonly<Record<string, (canAct: boolean) => Part>> = {
  '/jobs?state=failed': canAct => button(canAct, '/jobs/retry', 'Retry'),
  '/jobs?state=paused': canAct => button(canAct, '/read-now', 'Read now'),
};

function glance(
  { organizations, standing, own, certificates: counts }: Overview,
  { query, canAct }: Ask,
): Html {
  const sums = sumsBy(own, ({ organization_id: id, type }) => JSON.stringify([id, type]));
  const sum = (type: string) => ({
    name: `${creditTypeName(type)}, t`,
    numeric: true,
    cell: ({ organization_id: id }: OrganizationStatus) =>
      wholeTonnes(sums.get(JSON.stringify([id, type])) ?? null),
  });
  return html`${firstOf(
    'Organizations',
    [
      {
        name: 'Organization',
        cell: ({ organization_id: id, installation_id: installed, name }) =>
          leading('organization_id', id, html`${name ?? id ?? installed}`, null),
      },
      { name: 'State', cell: organization => stateOf(worstOf(organization)) },
      sum('exPost'),
      sum('exAnte'),
    ],
    organizations,
    query,
    {
      count: countOf(standing),
      most: MOST_ORGANIZATIONS,
      more: html`${certificateCounts(counts)} ${button(canAct, '/read-now', 'Read everything now')}`,
    },
  )}`;
}

function leftOut({ count, worst }: StandingSums['leftOut'], { now, query }: Ask): Html | false {
  if (count === 0) return false;
  return firstOf(
    'Unavailable credits',
    [
      {
        name: 'Organization',
        cell: each => leading('organization_id', each.organization_id, html`${nameOf(each)}`, null),
      },
      { name: 'State', cell: stateOf },
      { name: 'Last complete read', cell: ({ as_of: at }) => ago(at, now) },
      { name: 'Rows', cell: ({ rows }) => withThousands(rows), numeric: true },
      { name: 'Reason', cell: sentenceOf },
    ],
    worst,
    query,
    { count },
  );
}
