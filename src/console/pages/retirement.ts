import type { Row } from '../../store/contract/tables.js';
import { type Explanation, explainRow, reasonsOf } from '../../query/history/explanation.js';
import { readHistory } from '../../query/lists/find.js';
import { colourOf, wordsOf } from '../../query/freshness/words.js';
import { readNameOf, readOrigin } from '../../query/names.js';
import { readStates } from '../../query/freshness/read.js';
import { RETIREMENTS } from '../../query/lists/lists.js';
import { LISTS } from '../../resources/lists.js';
import { ENTRY_BY_RESOURCE } from '../../resources/resources.js';
import { formatCount, withThousands } from '../../text/numbers.js';
import type { Ask, Page } from '../page.js';
import { withAt } from '../components/as-of.js';
import { leading } from '../components/cell.js';
import { asSent, BOOKKEEPING, facts } from '../components/facts.js';
import { card, type Fact, factsOf, head, type Stop, timeline } from '../components/head.js';
import { html, type Html } from '../components/html.js';
import { toldBy, versions } from '../components/versions.js';
import { ago, badge, day, shown, withMoments } from '../components/words.js';
import { leadOn } from './by-id.js';

export const RETIREMENT: Page = {
  path: '/retirements/:id',
  isDated: true,
  show: async ask => {
    const { reader, params, at, now, inspect, contradicted } = ask;
    const all = await readHistory(reader, LISTS.retirements, params['id'] ?? '');
    const told = toldBy(at, all);
    const row = told.findLast(isStanding) ?? told.at(-1) ?? null;
    const any = row ?? all[0];
    if (any === undefined) return await leadOn(RETIREMENTS, ask);
    const isOwn = (each: Row) => each['organization_id'] === any['organization_id'];
    const [own, history] = [all.filter(isOwn), told.filter(isOwn)];
    const ground = { reader, inspect, contradicted, at: at ?? new Date(now).toISOString() };
    const explained = await explainRow(ground, LISTS.retirements, own);
    const title = `Retirement ${explained.id}`;
    if (row !== null) return { title, body: await show(row, history, explained, ask) };
    return { title, body: html`<h1>${title} was not in the mirror at that time.</h1>${why(explained)}` };
  },
};

function isStanding(version: Row): boolean {
  return version['valid_to'] === null;
}

async function show(row: Row, history: readonly Row[], explained: Explanation, ask: Ask): Promise<Html> {
  const { reader, now, at } = ask;
  const id = String(row['organization_id']);
  const owner = (await readNameOf(reader, id, at)) ?? id;
  const seal = await ask.sealedIn(Number(row['version']));
  const known = at === null ? ((await readStates(reader, 'retirements', id))?.standingOf(row) ?? null) : null;
  const freshness = known === null ? null : wordsOf(known);
  const cited = withAt(`/retirements/${encodeURIComponent(explained.id)}`, explained.at);
  const lead = html`${known !== null && badge(wordsOf(known), colourOf(known))} ${!isStanding(row) && badge('No longer listed by the registry', 'bad')} ${history.length > 1 && badge(`changed ${formatCount(history.length - 1, 'time')} since first observed`)} ${verdict(explained)}`;
  return html`${head([withAt('/retirements', at), 'Retirements'], sentence(row), lead)}
${sheet(owner, (await readOrigin(reader))?.base_url ?? null, cited, explained, ask)}
<div class="columns"><div class="stack"><div id="facts" class="stack" data-live>${whatCard(row, at)}<div class="two">${whoCard(row, owner, at)}<section class="card"><h2>Timeline</h2>${timeline(stops(row, history, explained, now))}</section></div></div>
<section id="why" class="card" data-live><h2>Provenance</h2>${why(explained)}${seal !== null && html`<p>${seal}</p>`}
<p class="cite no-paper">Permanent link: <a href="${cited}">${cited}</a></p></section>
<section id="versions" class="card" data-live><h2>Version history, newest first</h2>${versions(history, now)}</section>
<section class="card no-paper"><details><summary>Technical details</summary>${facts({ ...row, freshness }, { now, at }, BOOKKEEPING)}</details>
${typeof row['document'] === 'string' && asSent('Original JSON from the registry', row['document'])}</section></div>
<section id="certificate" class="card" data-live><h2>Certificate</h2>${certificate(explained)}${await earlier(ask, id, explained)}</section></div>`;
}

/** What a sheet of paper says of itself: nobody can ask it. */
function sheet(owner: string, registry: string | null, cited: string, told: Explanation, ask: Ask): Html {
  const { now, origin, isDemo, version } = ask;
  const { at, certificate: stored } = told;
  const said: readonly Fact[] = [
    ['Demo', isDemo && 'Sandbox registry with invented data'],
    ['Organization', owner],
    ['Registry', registry ?? 'unknown'],
    ['Recorded by', `carbon-mirror ${version}`],
    ['As of', at],
    ['Printed', new Date(now).toISOString()],
    ['Certificate', stored !== null && `SHA-256 ${stored.sha256}`],
    ['URL', `${origin}${cited}`],
  ];
  return factsOf(said, html` only-paper`);
}

function whatCard(row: Row, at: string | null): Html {
  const id = (column: string) => row[column] !== null && html`<span class="id">${shown(row[column])}</span>`;
  const project = html`${shown(row['project_name'] ?? row['project_id'])}`;
  return card('Credits', [
    ['Amount', html`${amountOf(row)} t`],
    ['Project', leading('project_id', row['project_id'], project, at)],
    ['Vintage', shown(row['vintage'])],
    ['Retirement', id('id')],
    ['Serialization', id('serialization')],
  ]);
}

function whoCard(row: Row, owner: string, at: string | null): Html {
  return card('Parties', [
    ['Beneficiary', shown(row['beneficiary'] ?? 'unclaimed')],
    ['Retired by', leading('organization_id', row['organization_id'], html`${owner}`, at)],
    ['Reason', shown(row['reason'])],
    ['Comment', shown(row['comment'])],
  ]);
}

type Moment = readonly [at: string | null, what: Html, more: string, colour?: Stop['colour']];

function stops(row: Row, history: readonly Row[], explained: Explanation, now: number): Stop[] {
  const { dated_at: dated, first_seen_at: first, last_seen_at: last, until } = explained;
  const changed = (at: string): Moment => [
    at,
    ago(at, now),
    'Change observed, see the version history',
    'none',
  ];
  const all: readonly Moment[] = [
    [dated, day(dated ?? ''), 'Retired (registry date)'],
    [first, ago(first, now), 'First observed by the mirror; earlier history is unknown'],
    ...history.slice(1).map(({ valid_from: at }) => changed(String(at))),
    [last, ago(last, now), 'Confirmed unchanged by the latest complete read'],
    [isStanding(row) ? null : until, ago(until, now), 'No longer listed by the registry', 'bad'],
  ];
  return all.flatMap(([at, what, more, colour = 'good']) =>
    at === null ? [] : [{ colour, what: html`<strong>${what}</strong>`, more }],
  );
}

function amountOf(row: Row): string {
  return withThousands(String(row['amount_exact'] ?? 'an unknown amount of'));
}

function sentence(row: Row): Html {
  const whom =
    row['beneficiary'] === null ? ', beneficiary unclaimed' : html` for ${shown(row['beneficiary'])}`;
  const what = row['project_name'] ?? row['project_id'] ?? 'an unknown project';
  return html`${amountOf(row)} t of ${shown(what)} ${shown(row['vintage'])} retired${whom}`;
}

function verdict({ certificate: stored }: Explanation): Html {
  if (stored === null || stored.file === null) return badge('no certificate stored');
  return stored.state === 'as it was stored'
    ? badge('certificate matches its hash', 'good')
    : badge(`certificate does not match its hash: the file is ${stored.state}`, 'bad');
}

/** The file as it is now, held against the hash that was taken as it came. */
function certificate(explained: Explanation): Html {
  const { certificate: stored } = explained;
  if (stored === null || stored.file === null) return html`<p>${verdict(explained)}</p>`;
  const href = `/certificates/${encodeURIComponent(stored.file)}`;
  const open = html`<a href="${href}">Open the certificate</a>`;
  return html`<p>${verdict(explained)} ${open}</p>
${factsOf([['SHA-256', html`<span class="id">${stored.sha256}</span>`]])}
${stored.state !== 'missing' && html`<object type="application/pdf" data="${href}" aria-label="The certificate"><p>This browser cannot show a PDF inside a page.</p>${open}</object>`}`;
}

/** A file that was stored once stays, and proves what it proved. */
async function earlier({ reader, at, now }: Ask, organizationId: string, { id }: Explanation) {
  const all = toldBy(at, await readHistory(reader, ENTRY_BY_RESOURCE.certificates, id, organizationId));
  return all.length > 1 && html`<h3>Certificate history, newest first</h3>${versions(all, now)}`;
}

function why(explained: Explanation): Html {
  const { not_known: gaps } = explained;
  return html`${reasonsOf(explained).map(line => html`<p>${withMoments(line)}</p>`)}${gaps.length > 0 && html`<h3>Known gaps</h3><ul class="gaps">${gaps.map(gap => html`<li>${withMoments(gap)}</li>`)}</ul>`}`;
}
