import type { Row } from '../../store/contract/tables.js';
import { type Explanation, explainRow, reasonsOf } from '../../query/history/explanation.js';
import { readHistory } from '../../query/lists/find.js';
import { colourOf, wordsOf } from '../../query/freshness/words.js';
import { readNameOf, readOrigin } from '../../query/names.js';
import { readStates } from '../../query/freshness/read.js';
import { RETIREMENTS } from '../../query/lists/lists.js';
import { LISTS } from '../../resources/lists.js';
import { ENTRY_BY_RESOURCE } from '../../resources/resources.js';
import { formatCount, formatWithCommas } from '../../text/numbers.js';
import type { PageRequest, ConsolePage } from '../page.js';
import { withAsOf } from '../components/as-of.js';
import { renderDetailLink } from '../components/cell.js';
import { renderRawText, BOOKKEEPING, renderRowFacts } from '../components/facts.js';
import {
  renderCard,
  type LabelledValue,
  renderFacts,
  renderPageHead,
  type TimelineEntry,
  renderTimeline,
} from '../components/head.js';
import { html, type Html } from '../components/html.js';
import { selectVersionsKnownAt, renderVersions } from '../components/versions.js';
import {
  renderAge,
  renderBadge,
  renderDay,
  toDisplayValue,
  renderInstantsIn,
} from '../components/formats.js';
import { redirectByIdPrefix } from './by-id.js';

export const RETIREMENT: ConsolePage = {
  path: '/retirements/:id',
  hasHistory: true,
  render: async request => {
    const { reader, params, at, now, inspect, contradicted } = request;
    const all = await readHistory(reader, LISTS.retirements, params['id'] ?? '');
    const told = selectVersionsKnownAt(at, all);
    const row = told.findLast(isCurrent) ?? told.at(-1) ?? null;
    const any = row ?? all[0];
    if (any === undefined) return await redirectByIdPrefix(RETIREMENTS, request);
    const isOwn = (each: Row) => each['organization_id'] === any['organization_id'];
    const [own, history] = [all.filter(isOwn), told.filter(isOwn)];
    const ground = { reader, inspect, contradicted, at: at ?? new Date(now).toISOString() };
    const explained = await explainRow(ground, LISTS.retirements, own);
    const title = `Retirement ${explained.id}`;
    if (row !== null) return { title, body: await renderRetirement(row, history, explained, request) };
    return {
      title,
      body: html`<h1>${title} was not in the mirror at that time.</h1>${renderProvenance(explained)}`,
    };
  },
};

function isCurrent(version: Row): boolean {
  return version['valid_to'] === null;
}

async function renderRetirement(
  row: Row,
  history: readonly Row[],
  explained: Explanation,
  request: PageRequest,
): Promise<Html> {
  const { reader, now, at } = request;
  const id = String(row['organization_id']);
  const owner = (await readNameOf(reader, id, at)) ?? id;
  const seal = await request.sealedIn(Number(row['version']));
  const known = at === null ? ((await readStates(reader, 'retirements', id))?.standingOf(row) ?? null) : null;
  const freshness = known === null ? null : wordsOf(known);
  const cited = withAsOf(`/retirements/${encodeURIComponent(explained.id)}`, explained.at);
  const lead = html`${known !== null && renderBadge(wordsOf(known), colourOf(known))} ${!isCurrent(row) && renderBadge('No longer listed by the registry', 'bad')} ${history.length > 1 && renderBadge(`changed ${formatCount(history.length - 1, 'time')} since first observed`)} ${renderCertificateVerdict(explained)}`;
  return html`${renderPageHead([withAsOf('/retirements', at), 'Retirements'], describeRetirement(row), lead)}
${renderPrintedFacts(owner, (await readOrigin(reader))?.base_url ?? null, cited, explained, request)}
<div class="columns"><div class="stack"><div id="facts" class="stack" data-live>${renderCredits(row, at)}<div class="two">${renderParties(row, owner, at)}<section class="card"><h2>Timeline</h2>${renderTimeline(listTimelineEntries(row, history, explained, now))}</section></div></div>
<section id="why" class="card" data-live><h2>Provenance</h2>${renderProvenance(explained)}${seal !== null && html`<p>${seal}</p>`}
<p class="cite no-paper">Permanent link: <a href="${cited}">${cited}</a></p></section>
<section id="versions" class="card" data-live><h2>Version history, newest first</h2>${renderVersions(history, now)}</section>
<section class="card no-paper"><details><summary>Technical details</summary>${renderRowFacts({ ...row, freshness }, { now, at }, BOOKKEEPING)}</details>
${typeof row['document'] === 'string' && renderRawText('Original JSON from the registry', row['document'])}</section></div>
<section id="certificate" class="card" data-live><h2>Certificate</h2>${renderCertificate(explained)}${await renderCertificateHistory(request, id, explained)}</section></div>`;
}

/** Renders facts that only the printed page shows, so that it can be checked later. */
function renderPrintedFacts(
  owner: string,
  registry: string | null,
  cited: string,
  told: Explanation,
  request: PageRequest,
): Html {
  const { now, origin, isDemo, version } = request;
  const { at, certificate: stored } = told;
  const said: readonly LabelledValue[] = [
    ['Demo', isDemo && 'Sandbox registry with invented data'],
    ['Organization', owner],
    ['Registry', registry ?? 'unknown'],
    ['Recorded by', `carbon-mirror ${version}`],
    ['As of', at],
    ['Printed', new Date(now).toISOString()],
    ['Certificate', stored !== null && `SHA-256 ${stored.sha256}`],
    ['URL', `${origin}${cited}`],
  ];
  return renderFacts(said, html` only-paper`);
}

function renderCredits(row: Row, at: string | null): Html {
  const id = (column: string) =>
    row[column] !== null && html`<span class="id">${toDisplayValue(row[column])}</span>`;
  const project = html`${toDisplayValue(row['project_name'] ?? row['project_id'])}`;
  return renderCard('Credits', [
    ['Amount', html`${formatAmount(row)} t`],
    ['Project', renderDetailLink('project_id', row['project_id'], project, at)],
    ['Vintage', toDisplayValue(row['vintage'])],
    ['Retirement', id('id')],
    ['Serialization', id('serialization')],
  ]);
}

function renderParties(row: Row, owner: string, at: string | null): Html {
  return renderCard('Parties', [
    ['Beneficiary', toDisplayValue(row['beneficiary'] ?? 'unclaimed')],
    ['Retired by', renderDetailLink('organization_id', row['organization_id'], html`${owner}`, at)],
    ['Reason', toDisplayValue(row['reason'])],
    ['Comment', toDisplayValue(row['comment'])],
  ]);
}

type TimelineMoment = readonly [
  at: string | null,
  what: Html,
  more: string,
  colour?: TimelineEntry['colour'],
];

function listTimelineEntries(
  row: Row,
  history: readonly Row[],
  explained: Explanation,
  now: number,
): TimelineEntry[] {
  const { dated_at: dated, first_seen_at: first, last_seen_at: last, until } = explained;
  const changed = (at: string): TimelineMoment => [
    at,
    renderAge(at, now),
    'Change observed, see the version history',
    'none',
  ];
  const all: readonly TimelineMoment[] = [
    [dated, renderDay(dated ?? ''), 'Retired (registry date)'],
    [first, renderAge(first, now), 'First observed by the mirror; earlier history is unknown'],
    ...history.slice(1).map(({ valid_from: at }) => changed(String(at))),
    [last, renderAge(last, now), 'Confirmed unchanged by the latest complete read'],
    [isCurrent(row) ? null : until, renderAge(until, now), 'No longer listed by the registry', 'bad'],
  ];
  return all.flatMap(([at, what, more, colour = 'good']) =>
    at === null ? [] : [{ colour, title: html`<strong>${what}</strong>`, details: more }],
  );
}

function formatAmount(row: Row): string {
  return formatWithCommas(String(row['amount_exact'] ?? 'an unknown amount of'));
}

function describeRetirement(row: Row): Html {
  const whom =
    row['beneficiary'] === null
      ? ', beneficiary unclaimed'
      : html` for ${toDisplayValue(row['beneficiary'])}`;
  const what = row['project_name'] ?? row['project_id'] ?? 'an unknown project';
  return html`${formatAmount(row)} t of ${toDisplayValue(what)} ${toDisplayValue(row['vintage'])} retired${whom}`;
}

function renderCertificateVerdict({ certificate: stored }: Explanation): Html {
  if (stored === null || stored.file === null) return renderBadge('no certificate stored');
  return stored.state === 'as it was stored'
    ? renderBadge('certificate matches its hash', 'good')
    : renderBadge(`certificate does not match its hash: the file is ${stored.state}`, 'bad');
}

/** Renders the certificate, and whether the file still matches the hash taken at download. */
function renderCertificate(explained: Explanation): Html {
  const { certificate: stored } = explained;
  if (stored === null || stored.file === null) return html`<p>${renderCertificateVerdict(explained)}</p>`;
  const href = `/certificates/${encodeURIComponent(stored.file)}`;
  const open = html`<a href="${href}">Open the certificate</a>`;
  return html`<p>${renderCertificateVerdict(explained)} ${open}</p>
${renderFacts([['SHA-256', html`<span class="id">${stored.sha256}</span>`]])}
${stored.state !== 'missing' && html`<object type="application/pdf" data="${href}" aria-label="The certificate"><p>This browser cannot show a PDF inside a page.</p>${open}</object>`}`;
}

/** Renders earlier certificate files, which are never deleted. */
async function renderCertificateHistory(
  { reader, at, now }: PageRequest,
  organizationId: string,
  { id }: Explanation,
) {
  const all = selectVersionsKnownAt(
    at,
    await readHistory(reader, ENTRY_BY_RESOURCE.certificates, id, organizationId),
  );
  return all.length > 1 && html`<h3>Certificate history, newest first</h3>${renderVersions(all, now)}`;
}

function renderProvenance(explained: Explanation): Html {
  const { not_known: gaps } = explained;
  return html`${reasonsOf(explained).map(line => html`<p>${renderInstantsIn(line)}</p>`)}${gaps.length > 0 && html`<h3>Known gaps</h3><ul class="gaps">${gaps.map(gap => html`<li>${renderInstantsIn(gap)}</li>`)}</ul>`}`;
}
