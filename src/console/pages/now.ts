import { describeExcludedRows, formatAmounts } from '../../query/answer/describe-totals.js';
import { formatCoverage } from '../../query/answer/describe-notes.js';
import type { Warehouse } from '../../query/available.js';
import { getOrganizationName } from '../../query/coverage.js';
import { sentenceOf, wordsOf } from '../../query/freshness/describe-freshness.js';
import { describeActor, reportFailingLists, findTroubles, type Trouble } from '../../query/inbox/troubles.js';
import { readStateFingerprint } from '../../query/inbox/activity.js';
import { readOrigin } from '../../query/names.js';
import { type Charts, readCharts } from '../../query/charts.js';
import { type Overview, readOverview, readSums } from '../../query/overview.js';
import { type OrganizationStatus, worstOf } from '../../query/status.js';
import { formatCount, formatWithCommas } from '../../text/numbers.js';
import {
  formatSumsByType,
  formatCreditType,
  formatTonnes,
  formatWholeTonnes,
  WHOLE_TONNES,
} from '../../text/tonnes.js';
import { type ButtonVisitor, renderButton } from '../actions/button.js';
import type { ConsoleRequest, ConsolePage, PageContent } from '../page.js';
import { renderDetailLink, sumAmountsBy, NO_VALUE, renderTonnes } from '../components/table-cell.js';
import { renderChangeFeed, groupChanges } from '../components/change-feed.js';
import { renderCaveats } from '../components/answer.js';
import { renderFreshnessState, renderFreshnessSums } from '../components/freshness.js';
import { html, type Html, type HtmlContent } from '../components/html.js';
import { ALL, renderTopRows, getRowLimit } from '../components/table.js';
import { renderCertificateCounts } from '../components/certificate-counts.js';
import { capitalize } from '../components/column-labels.js';
import { renderAge, renderDay, formatRelativeTime } from '../components/instants.js';
import { renderVintageMatrix } from '../components/vintage-matrix.js';
import { createCache } from '../cache.js';
import { renderStockChart, renderRetirementChart } from './stock-charts.js';
import { renderNowAsOf } from './now-as-of.js';

const MAX_ORGANIZATIONS = 8;
const MAX_CHANGE_GROUPS = 4;

const CHARTS_CACHED_MS = 60_000;
/** Shorter than the time after which a missing worker or read is reported. */
const SUMS_CACHED_MS = 10_000;

/** Creates the start page of the console. Caches its charts and sums, because computing them reads every row. */
export function createNowPage(): ConsolePage {
  const chartsCache = createCache<Charts>(CHARTS_CACHED_MS);
  const sumsCache = createCache<Awaited<ReturnType<typeof readSums>>>(SUMS_CACHED_MS);
  return {
    path: '/',
    hasHistory: true,
    parameters: [ALL],
    render: async request => {
      const { reader, now, at, query } = request;
      if (at !== null) return renderNowAsOf(request, at);
      const origin = await readOrigin(reader);
      const overview = await readOverview(reader, now, async snapshot => {
        // The sums are read again after any change of the mirror.
        const key = `${getRowLimit(query)} ${await readStateFingerprint(snapshot, now)}`;
        const organizationLimit = getRowLimit(query, MAX_ORGANIZATIONS);
        return await sumsCache(now, key, () => readSums(snapshot, organizationLimit, getRowLimit(query)));
      });
      const { available, uninstalled } = overview;
      const renderRest = async () =>
        // The charts are read again when an organization is added or removed.
        renderCharts(
          await chartsCache(now, `${available.coverage.known} ${uninstalled}`, () => readCharts(reader, now)),
        );
      return {
        intro:
          origin !== null &&
          html`<p class="lead">Mirror of ${origin.base_url}${origin.simulated_until !== null && html`. Its history until ${renderDay(origin.simulated_until, now)} is simulated.`}</p>`,
        ...renderOverview(overview, request),
        ...(countOrganizations(overview) > 0 && { renderRest }),
      };
    },
  };
}

/** Renders the start page except for its charts. */
function renderOverview(overview: Overview, request: ConsoleRequest): PageContent {
  const { now, webhookUrl, query } = request;
  const { activity, available, changes } = overview;
  const isEmpty = countOrganizations(overview) === 0;
  const issues = [...findTroubles(activity, now), ...reportFailingLists(overview.failing)];
  const groups = groupChanges(changes).slice(0, MAX_CHANGE_GROUPS);
  const body = html`<div class="stack"><div class="tiles">${renderHeadline(overview)}<div id="tiles" data-live>${renderTiles(overview, issues, now)}</div></div>
${renderCaveats({ ...available, coverage: null })}
<section id="attention" class="notices" data-live>${renderNotices(issues, request)}</section></div>
<section id="invitation" data-live>${isEmpty && renderSetup(webhookUrl, activity.newestDeliveryAt, now)}</section>
<div class="columns">
<section id="available" data-live>${available.rows.length > 0 && renderVintageMatrix('Available', available.rows, { query })}</section>
<div class="stack"><section id="glance" data-live>${!isEmpty && renderOrganizations(overview, request)}</section>
<section id="moved" data-live>${renderChangeFeed('Recent activity', groups, { now, footer: ALL_CHANGES_LINK })}</section></div>
</div>
<div id="below" class="stack"><section id="leftout" data-live>${renderUnavailableWarehouses(overview.unavailable, request)}</section></div>`;
  return { title: 'Now', body };
}

function renderCharts(charts: Charts): Html {
  return html`<section id="charts" class="two" data-live>${renderStockChart(charts)}${renderRetirementChart(charts)}</section>`;
}

const ALL_CHANGES_LINK = html`<p class="more"><a href="/changes">All changes of the last day</a></p>`;

/** Counts all known organizations, including those that have uninstalled the app. */
function countOrganizations({ available, uninstalled }: Overview): number {
  return available.coverage.known + uninstalled;
}

/**
 * Renders setup instructions for an empty mirror. Says whether a webhook has arrived, so that the operator can check the
 * setup.
 */
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

/** Renders the headline, such as "5 t ex-post available to sell now in 3 of the 4 known organizations". */
function renderHeadline(overview: Overview): Html {
  const { totals, coverage } = overview.available;
  if (countOrganizations(overview) === 0)
    return html`<h1 id="sentence" class="tile hero" data-live><span><b>Nothing is mirrored yet</b></span> No organization has installed the app yet, as far as the mirror knows.</h1>`;
  return html`<h1 id="sentence" class="tile hero" data-live>${renderAmountLines(formatAmounts(totals.amounts ?? []))} <span class="of">available to sell now in ${formatCoverage(coverage)}</span></h1>`;
}

/** Renders amounts such as "5 t ex-post and 2 t ex-ante", each on its own line. */
function renderAmountLines(amounts: string): HtmlContent {
  return amounts.split(/ and |, /).map((line, index) => {
    const [number = '', ...unit] = line.split(' ');
    return html`${index > 0 && html`<span class="unseen"> and </span>`}<span class="sum"><b>${renderTonnes(number)}</b> <span>${unit.join(' ')}</span></span>`;
  });
}

/**
 * Renders the summary tiles beside the headline: reserved tonnes, tonnes that cannot be sold, fresh warehouses, the newest webhook
 * and the number of issues.
 */
function renderTiles(overview: Overview, issues: readonly Trouble[], now: number): Html {
  const { activity } = overview;
  const rejected = activity.rejectedWebhooks.reduce((sum, reason) => sum + reason.rejected, 0);
  const webhookTile = renderTile(
    'Newest webhook',
    activity.newestDeliveryAt === null
      ? 'none yet'
      : html`<a href="/deliveries">${renderAge(activity.newestDeliveryAt, now)}</a>`,
    html`<a href="/rejected-webhooks">${formatWithCommas(rejected)} rejected</a> since yesterday`,
  );
  const attentionTile = renderTile(
    'Attention',
    renderIssueCount(issues),
    html`<a href="/jobs?state=failed">${formatCount(activity.jobs.failed, 'job')} failed</a>, <a href="/jobs?state=waiting">${formatWithCommas(activity.jobs.due)} due now</a>`,
  );
  return html`${renderReservedTile(overview, now)}${renderUnavailableTile(overview)}${renderFreshTile(overview, now)}${webhookTile}${attentionTile}`;
}

/** Renders the tile with the reserved tonnes and the time at which the first reservation expires. */
function renderReservedTile({ reserved }: Overview, now: number): Html {
  const reservations = reserved.reduce((sum, { rows }) => sum + rows, 0);
  const [firstExpiry = null] = reserved.flatMap(({ first_ends_at: expiry }) => expiry ?? []).toSorted();
  return renderTile(
    'Reserved',
    renderAmountLines(formatSumsByType(reserved)),
    reservations === 0
      ? 'no outstanding reservations'
      : html`<a href="/reservations?state=outstanding">${formatCount(reservations, 'reservation')}</a>, the first expires ${firstExpiry === null ? 'never' : formatRelativeTime(firstExpiry, now)}${describeExcludedRows(reserved)}`,
  );
}

/** Renders the tile with the tonnes that cannot be sold now. Names the first warehouse concerned and the reason. */
function renderUnavailableTile({ unavailable }: Overview): Html {
  const { count, readCount, worst, sums } = unavailable;
  const [first] = worst;
  return renderTile(
    'Not available',
    count > 0 && readCount === 0 ? 'unknown' : renderAmountLines(formatSumsByType(sums)),
    first === undefined
      ? 'all organizations included'
      : html`<a href="#leftout">${getWarehouseName(first)}</a>: ${wordsOf(first)}${count > 1 && `, and ${formatCount(count - 1, 'other')}`}${describeExcludedRows(sums)}`,
  );
}

/** Renders the tile with the number of organizations whose warehouse list is fresh, and the ages of these lists. */
function renderFreshTile({ available }: Overview, now: number): Html {
  const { coverage, freshness } = available;
  return renderTile(
    'Fresh warehouses',
    `${formatWithCommas(coverage.counted)} of ${formatWithCommas(coverage.known)}`,
    html`<a href="/organizations">known organizations</a>${freshness.length > 0 && html`: ${renderFreshnessSums(freshness, now)}`}`,
  );
}

/** Renders the number of issues, coloured by the most severe one. Links to the list of issues. */
function renderIssueCount(issues: readonly Trouble[]): Html {
  if (issues.length === 0) return html`<span class="good">✓ None</span>`;
  const colour = issues.some(issue => findNoticeColour(issue) === 'bad') ? 'bad' : 'doubt';
  return html`<a class="${colour}" href="#attention">▲ ${formatCount(issues.length, 'issue')}</a>`;
}

function renderTile(label: string, value: HtmlContent, details: HtmlContent): Html {
  return html`<dl class="tile"><dt>${label}</dt><dd>${value}</dd><dd>${details}</dd></dl>`;
}

function getWarehouseName({ organization_name: name, ...ids }: Warehouse): string {
  return getOrganizationName({ ...ids, name });
}

/** Renders each issue as a notice with advice. If a button or a command can help with the issue, the notice contains it. */
function renderNotices(issues: readonly Trouble[], visitor: ButtonVisitor): Html {
  return html`${issues.map(
    issue =>
      html`<div class="notice ${findNoticeColour(issue)}"><strong>${capitalize(issue.found)}.</strong> <span>${issue.todo}</span> ${issue.actor !== null && html`<span class="light">${describeActor(issue)}</span>`} <a href="${issue.href}">Details</a> ${issue.action !== null && NOTICE_ACTIONS[issue.action](visitor)}${issue.command !== null && html`<details><summary>Command</summary><code>${issue.command}</code></details>`}</div>`,
  )}`;
}

function findNoticeColour({ isSevere }: Trouble): 'bad' | 'doubt' {
  return isSevere ? 'bad' : 'doubt';
}

/** Buttons that remedy an issue. */
const NOTICE_ACTIONS: Readonly<
  Record<NonNullable<Trouble['action']>, (visitor: ButtonVisitor) => HtmlContent>
> = {
  retry: visitor => renderButton(visitor, '/jobs/retry', 'Retry'),
  read_now: visitor => renderButton(visitor, '/read-now', 'Read now'),
};

/**
 * Renders a table of organizations. Each row shows how fresh the least fresh list of the organization is, and the tonnes that can
 * be sold. Organizations with problems come first.
 */
function renderOrganizations(overview: Overview, request: ConsoleRequest): Html {
  const { query } = request;
  const { organizations, availableByOwner, certificates } = overview;
  const sums = sumAmountsBy(availableByOwner, ({ organization_id: id, type }) => JSON.stringify([id, type]));
  const createSumColumn = (type: string) => ({
    name: `${formatCreditType(type)}, t`,
    numeric: true,
    cell: ({ organization_id: id }: OrganizationStatus) => {
      const micro = sums.get(JSON.stringify([id, type]));
      if (micro === undefined) return NO_VALUE;
      return html`<span title="${formatTonnes(micro)} t">${formatWholeTonnes(micro)}</span>`;
    },
  });
  return html`${renderTopRows(
    `Organizations, available ${WHOLE_TONNES}`,
    [
      {
        name: 'Organization',
        cell: organization =>
          renderDetailLink(
            'organization_id',
            organization.organization_id,
            html`${getOrganizationName(organization)}`,
            null,
          ),
      },
      { name: 'All lists', cell: organization => renderFreshnessState(worstOf(organization)) },
      createSumColumn('exPost'),
      createSumColumn('exAnte'),
    ],
    organizations,
    query,
    {
      totalCount: countOrganizations(overview),
      limit: MAX_ORGANIZATIONS,
      footer: html`${renderCertificateCounts(certificates)} ${renderButton(request, '/read-now', 'Read everything now')}`,
    },
  )}`;
}

/** Renders a table of warehouses whose credits cannot be sold now, each with the reason. False if there are none. */
function renderUnavailableWarehouses(
  { count, worst }: Overview['unavailable'],
  { now, query }: ConsoleRequest,
): Html | false {
  if (count === 0) return false;
  return renderTopRows(
    'Unavailable credits',
    [
      {
        name: 'Organization',
        cell: warehouse =>
          renderDetailLink(
            'organization_id',
            warehouse.organization_id,
            html`${getWarehouseName(warehouse)}`,
            null,
          ),
      },
      { name: 'State', cell: renderFreshnessState },
      { name: 'Last complete read', cell: ({ as_of: at }) => renderAge(at, now) },
      { name: 'Rows', cell: ({ rows }) => formatWithCommas(rows), numeric: true },
      { name: 'Reason', cell: sentenceOf },
    ],
    worst,
    query,
    { totalCount: count },
  );
}
