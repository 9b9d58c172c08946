import type { StandingSums, Warehouse } from '../../query/available.js';
import { sentenceOf, wordsOf } from '../../query/freshness/words.js';
import { findFailing, findTroubles, type Trouble } from '../../query/inbox/troubles.js';
import { readPulse } from '../../query/inbox/activity.js';
import { readOrigin } from '../../query/names.js';
import { type Charts, readCharts } from '../../query/charts.js';
import { type Overview, readOverview, readSums } from '../../query/overview.js';
import { type OrganizationStatus, worstOf } from '../../query/status.js';
import { formatCount, formatKnownOrganizations, formatWithCommas } from '../../text/numbers.js';
import { formatSumsByType, formatCreditType } from '../../text/tonnes.js';
import { renderButton } from '../actions/button.js';
import type { PageRequest, ConsolePage, PageContent } from '../page.js';
import { renderDetailLink, sumMicroBy, formatWholeTonnes } from '../components/cell.js';
import { renderChangeFeed, groupChanges } from '../components/changes.js';
import { renderFreshnessState as stateOf } from '../components/freshness.js';
import { html, type Html, type HtmlContent } from '../components/html.js';
import { ALL, renderTopRows, getRowLimit } from '../components/table.js';
import {
  renderAge,
  capitalize,
  renderCertificateCounts,
  describeExcludedRows,
  renderTonnes,
  formatRelativeTime,
} from '../components/formats.js';
import { createCache } from '../cache.js';
import { renderStockChart, renderRetirementChart } from './charts.js';
import { renderVintageMatrix } from './by-vintage.js';
import { createAsOfPage } from './as-of-page.js';

const MAX_ORGANIZATIONS = 8;
const MAX_GROUPS = 4;

const MINUTE_MS = 60_000;
/** Shorter than the time after which a missing worker or read is reported. */
const SUMS_MS = 10_000;

/** Creates the first page. It caches results that scan every row: charts for a minute or until an organization comes or goes, sums until something changes. */
export function createNow(): ConsolePage {
  const charts = createCache<Charts>(MINUTE_MS);
  const sums = createCache<Awaited<ReturnType<typeof readSums>>>(SUMS_MS);
  return {
    path: '/',
    hasHistory: true,
    parameters: [ALL],
    render: async request => {
      const { reader, now, at, query } = request;
      if (at !== null) return createAsOfPage(request, at);
      const origin = await readOrigin(reader);
      const about = origin !== null && html`<p class="lead">Mirror of ${origin.base_url}</p>`;
      const answer = await readOverview(reader, now, async snapshot => {
        const key = `${getRowLimit(query)} ${await readPulse(snapshot, now)}`;
        const most = getRowLimit(query, MAX_ORGANIZATIONS);
        return await sums(now, key, () => readSums(snapshot, most, getRowLimit(query)));
      });
      const { known, uninstalled } = answer.standing;
      const later = async () =>
        renderCharts(await charts(now, `${known} ${uninstalled}`, () => readCharts(reader, now)));
      return {
        intro: about,
        ...renderNow(answer, request),
        ...(countOrganizations(answer.standing) > 0 && { renderRest: later }),
      };
    },
  };
}

function renderNow(answer: Overview, request: PageRequest): PageContent {
  const { now, canAct, webhookUrl, query } = request;
  const { activity, standing, sums, changes } = answer;
  const isEmpty = countOrganizations(standing) === 0;
  const troubles = [...findTroubles(activity, now), ...findFailing(answer.failing)];
  const body = html`<div class="stack"><div class="tiles">${renderHeadline(answer)}<div id="tiles" data-live>${renderTiles(answer, troubles, now)}</div></div>
<section id="attention" class="notices" data-live>${renderNotices(troubles, canAct)}</section></div>
<section id="invitation" data-live>${isEmpty && renderSetup(webhookUrl, activity.newestDeliveryAt, now)}</section>
<div class="columns">
<section id="available" data-live>${sums.length > 0 && renderVintageMatrix('Available', sums, { query })}</section>
<div class="stack"><section id="glance" data-live>${!isEmpty && renderOrganizations(answer, request)}</section>
<section id="moved" data-live>${renderChangeFeed('Recent activity', groupChanges(changes).slice(0, MAX_GROUPS), { now, more: ALL_CHANGES_LINK })}</section></div>
</div>
<div id="below" class="stack"><section id="leftout" data-live>${renderUnavailableWarehouses(standing.leftOut, request)}</section></div>`;
  return { title: 'Now', body };
}

function renderCharts(charts: Charts): Html {
  return html`<section id="charts" class="two" data-live>${renderStockChart(charts)}${renderRetirementChart(charts)}</section>`;
}

const ALL_CHANGES_LINK = html`<p class="more"><a href="/changes">All changes of the last day</a></p>`;

function countOrganizations({ known, uninstalled }: StandingSums): number {
  return known + uninstalled;
}

/** Renders the setup steps of an empty mirror, and whether a webhook has arrived. */
function renderSetup(webhookUrl: string | null, newestDeliveryAt: string | null, now: number): Html {
  return html`<div class="card"><h2>Set up the registry</h2><ol>
<li>Set the app's webhook URL to ${webhookUrl === null ? 'the address of the receiver' : html`<code>${webhookUrl}</code>, with the public host name of this machine`}.</li>
<li>Install the app on an organization. Its first webhook starts the first read.</li></ol>
<p class="light">${
    newestDeliveryAt === null
      ? html`<span class="state">No webhook has arrived yet.</span>`
      : html`<span class="state good">A webhook arrived ${renderAge(newestDeliveryAt, now)}.</span> Its organization appears here after its first read.`
  }</p></div>`;
}

/** Renders the available amounts and how many organizations they cover. */
function renderHeadline({ standing, sums }: Overview): Html {
  if (countOrganizations(standing) === 0)
    return html`<h1 id="sentence" class="tile hero" data-live><span><b>Nothing is mirrored yet</b></span> No organization has installed the app yet, as far as the mirror knows.</h1>`;
  return html`<h1 id="sentence" class="tile hero" data-live>${renderAmounts(formatSumsByType(sums))} <span class="of">available to sell now in ${formatWithCommas(standing.available)} of ${formatKnownOrganizations(standing.known)}${describeExcludedRows(sums)}</span></h1>`;
}

/** Renders one line per credit type, with a large number. */
function renderAmounts(sentence: string): HtmlContent {
  return sentence.split(/ and |, /).map((line, place) => {
    const [number = '', ...unit] = line.split(' ');
    return html`${place > 0 && html`<span class="unseen"> and </span>`}<span><b>${renderTonnes(number)}</b> ${unit.join(' ')}</span>`;
  });
}

function renderTiles(answer: Overview, troubles: readonly Trouble[], now: number): Html {
  const { standing, left, reserved, activity } = answer;
  const { count, seen, worst } = standing.leftOut;
  const [first] = worst;
  const reservations = reserved.reduce((sum, each) => sum + each.rows, 0);
  const [ends = null] = reserved.flatMap(({ first_ends_at: at }) => at ?? []).toSorted();
  const rejected = activity.rejectedWebhooks.reduce((sum, each) => sum + each.rejected, 0);
  return html`${renderTile(
    'Reserved',
    formatSumsByType(reserved),
    reservations === 0
      ? 'no outstanding reservations'
      : html`<a href="/reservations?state=outstanding">${formatCount(reservations, 'reservation')}</a>, the first expires ${ends === null ? 'never' : formatRelativeTime(ends, now)}${describeExcludedRows(reserved)}`,
  )}${renderTile(
    'Not available',
    count > 0 && seen === 0 ? 'unknown' : formatSumsByType(left),
    first === undefined
      ? 'all organizations included'
      : html`<a href="#leftout">${getWarehouseName(first)}</a>: ${wordsOf(first)}${count > 1 && `, and ${formatCount(count - 1, 'other')}`}${describeExcludedRows(left)}`,
  )}${renderTile(
    'Fresh',
    `${formatWithCommas(standing.available)} of ${formatWithCommas(standing.known)}`,
    html`known organizations${standing.oldest_at !== null && html`, oldest read ${renderAge(standing.oldest_at, now)}`}${standing.failing > 0 && html`; <a href="/organizations">last read failed in ${formatWithCommas(standing.failing)}</a>`}`,
  )}${renderTile(
    'Newest webhook',
    activity.newestDeliveryAt === null ? 'none yet' : renderAge(activity.newestDeliveryAt, now),
    html`<a href="/rejected-webhooks">${formatWithCommas(rejected)} rejected</a> since yesterday`,
  )}${renderTile('Attention', renderAttention(troubles), html`<a href="/jobs?state=failed">${formatCount(activity.jobs.failed, 'job')} failed</a>, ${formatWithCommas(activity.jobs.due)} due now`)}`;
}

function renderAttention(troubles: readonly Trouble[]): Html {
  if (troubles.length === 0) return html`<span class="good">✓ None</span>`;
  return html`<a class="${troubles.some(each => findNoticeColour(each) === 'bad') ? 'bad' : 'doubt'}" href="#attention">▲ ${formatCount(troubles.length, 'issue')}</a>`;
}

function renderTile(name: string, value: HtmlContent, more: HtmlContent): Html {
  return html`<dl class="tile"><dt>${name}</dt><dd>${value}</dd><dd>${more}</dd></dl>`;
}

function getWarehouseName({ organization_name: name, ...own }: Warehouse): string {
  return name ?? own.organization_id ?? own.installation_id;
}

function renderNotices(troubles: readonly Trouble[], canAct: boolean): Html {
  return html`${troubles.map(
    trouble =>
      html`<div class="notice ${findNoticeColour(trouble)}"><strong>${capitalize(trouble.found)}.</strong> <span>${trouble.todo}</span> <a href="${trouble.href}">Details</a> ${NOTICE_ACTIONS[trouble.href]?.(canAct)}${trouble.command !== null && html`<details><summary>Command</summary><code>${trouble.command}</code></details>`}</div>`,
  )}`;
}

/** Red if no worker runs or a job failed for good; otherwise amber. */
function findNoticeColour({ check, href }: Trouble): 'bad' | 'doubt' {
  return check === 'worker' || href.endsWith('failed') ? 'bad' : 'doubt';
}

/** Buttons that remedy an issue, by the page that shows it. */
const NOTICE_ACTIONS: Readonly<Record<string, (canAct: boolean) => HtmlContent>> = {
  '/jobs?state=failed': canAct => renderButton(canAct, '/jobs/retry', 'Retry'),
  '/jobs?state=paused': canAct => renderButton(canAct, '/read-now', 'Read now'),
};

function renderOrganizations(
  { organizations, standing, own, certificates: counts }: Overview,
  { query, canAct }: PageRequest,
): Html {
  const sums = sumMicroBy(own, ({ organization_id: id, type }) => JSON.stringify([id, type]));
  const sum = (type: string) => ({
    name: `${formatCreditType(type)}, t`,
    numeric: true,
    cell: ({ organization_id: id }: OrganizationStatus) =>
      formatWholeTonnes(sums.get(JSON.stringify([id, type])) ?? null),
  });
  return html`${renderTopRows(
    'Organizations',
    [
      {
        name: 'Organization',
        cell: ({ organization_id: id, installation_id: installed, name }) =>
          renderDetailLink('organization_id', id, html`${name ?? id ?? installed}`, null),
      },
      { name: 'State', cell: organization => stateOf(worstOf(organization)) },
      sum('exPost'),
      sum('exAnte'),
    ],
    organizations,
    query,
    {
      count: countOrganizations(standing),
      limit: MAX_ORGANIZATIONS,
      more: html`${renderCertificateCounts(counts)} ${renderButton(canAct, '/read-now', 'Read everything now')}`,
    },
  )}`;
}

function renderUnavailableWarehouses(
  { count, worst }: StandingSums['leftOut'],
  { now, query }: PageRequest,
): Html | false {
  if (count === 0) return false;
  return renderTopRows(
    'Unavailable credits',
    [
      {
        name: 'Organization',
        cell: each =>
          renderDetailLink('organization_id', each.organization_id, html`${getWarehouseName(each)}`, null),
      },
      { name: 'State', cell: stateOf },
      { name: 'Last complete read', cell: ({ as_of: at }) => renderAge(at, now) },
      { name: 'Rows', cell: ({ rows }) => formatWithCommas(rows), numeric: true },
      { name: 'Reason', cell: sentenceOf },
    ],
    worst,
    query,
    { count },
  );
}
