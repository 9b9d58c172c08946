import type { Row } from '../../store/contract/tables.js';
import { type Explanation, explainRow } from '../../query/history/explanation.js';
import { readHistory } from '../../query/lists/find.js';
import { wordsOf } from '../../query/freshness.js';
import { readStates } from '../../query/reads/freshness.js';
import { LISTS } from '../../resources/lists.js';
import { certificateWords, reasons } from '../../text/read-behind.js';
import { type Ask, page, type Shown } from '../page.js';
import { AS_OF, withAt } from '../components/as-of.js';
import { asSent, BOOKKEEPING, facts } from '../components/facts.js';
import { card, head, type Stop, timeline } from '../components/head.js';
import { html, type Html } from '../components/html.js';
import { versions } from '../components/versions.js';
import { withThousands } from '../../text/thousands.js';
import { colourOf, type Standing } from '../../query/freshness.js';
import { readNameOf, readRegistry } from '../../query/names.js';
import { ago, badge, day, shown } from '../components/words.js';
import { sheet } from './sheet.js';

interface Retirement {
  /** Null where none was known by then. */
  readonly row: Row | null;
  readonly isGone: boolean;
  readonly history: readonly Row[];
  readonly explained: Explanation;
  /** What its organization was called. */
  readonly owner: string | null;
  /** How fresh the list is in which it stands; null where that is not of now. */
  readonly standing: Standing | null;
  readonly registry: string | null;
}

export const RETIREMENT = page('/retirements/:id', read, show, { isDated: true });

async function read({ reader, params, at, now, inspect, contradicted }: Ask): Promise<Retirement | null> {
  const { id = '' } = params;
  const all = await readHistory(reader, LISTS.retirements, id);
  const history = toldBy(at, all);
  const found = history.findLast(isStanding) ?? history.at(-1) ?? null;
  const any = found ?? all[0];
  if (any === undefined) return null;
  const own = all.filter(each => each['organization_id'] === any['organization_id']);
  const ground = { reader, inspect, contradicted, at: at ?? new Date(now).toISOString() };
  const owner = String(any['organization_id']);
  const states = at === null ? await readStates(reader, 'retirements', owner) : null;
  return {
    row: found,
    owner: await readNameOf(reader, owner, at),
    standing: found === null ? null : (states?.standingOf(found) ?? null),
    registry: await readRegistry(reader),
    isGone: found !== null && !isStanding(found),
    history,
    explained: await explainRow(ground, LISTS.retirements, own),
  };
}

/** Versions as they were known at an instant: what ended later had not ended yet. */
function toldBy(at: string | null, all: readonly Row[]): Row[] {
  if (at === null) return [...all];
  return all
    .filter(each => String(each['valid_from']) <= at)
    .map(each => (String(each['valid_to'] ?? '') > at ? { ...each, valid_to: null } : each));
}

function isStanding(version: Row): boolean {
  return version['valid_to'] === null;
}

function show(answer: Retirement, ask: Ask): Shown {
  const { row, isGone, history, explained, standing } = answer;
  const { now, at } = ask;
  const title = `Retirement ${explained.id}`;
  if (row === null)
    return { title, body: html`<h1>${title} was not in the mirror then.</h1>${why(explained)}` };
  const lead = html`${standing !== null && badge(wordsOf(standing), colourOf(standing))} ${isGone && badge('The registry does not show it any more.', 'bad')} ${matched(explained)}`;
  const body = html`${head([withAt('/retirements', at), 'Retirements'], sentence(row), lead)}
${sheet(answer, explained, ask)}
<div class="columns"><div class="stack"><div id="facts" class="stack" data-live>${about(row, answer, ask)}</div>
<section id="why" class="card" data-live><h2>Proof: why it stands here</h2>${why(explained)}
<p class="cite">To cite it: <a href="${citation(row, explained)}">${citation(row, explained)}</a></p></section>
<section id="versions" class="card" data-live><h2>What the registry showed of it, newest first</h2>${versions(history, now)}</section>
<section class="card no-paper"><details><summary>Technical</summary>${facts({ ...row, freshness: standing === null ? null : wordsOf(standing) }, { now, at }, BOOKKEEPING)}</details>
${typeof row['document'] === 'string' && asSent('The object as the registry sent it', row['document'])}</section></div>
<section id="certificate" class="card" data-live><h2>Certificate</h2>${certificate(explained)}</section></div>`;
  return { title, body };
}

function about(row: Row, { owner, explained, isGone }: Retirement, { now, at }: Ask): Html {
  const project = shown(row['project_name'] ?? row['project_id']);
  const link = (path: string, id: unknown, says: Html) =>
    typeof id === 'string'
      ? html`<a href="${withAt(`/${path}/${encodeURIComponent(id)}`, at)}">${says}</a>`
      : says;
  const { dated_at: dated, first_seen_at: first, last_seen_at: last, until } = explained;
  const when: Stop[] = [
    ...(dated === null
      ? []
      : [stop(html`<strong>${day(dated)}</strong>`, 'Retired, as the registry dates it')]),
    stop(
      html`<strong>${ago(first, now)}</strong>`,
      'First seen by the mirror: what was before that it does not know',
    ),
    ...(last === null
      ? []
      : [stop(html`<strong>${ago(last, now)}</strong>`, 'Last seen unchanged by a complete read')]),
    ...(isGone && until !== null
      ? [
          {
            colour: 'bad' as const,
            what: html`<strong>${ago(until, now)}</strong>`,
            more: 'No longer shown by the registry',
          },
        ]
      : []),
  ];
  return html`${card('What', [
    ['Amount', html`${amountOf(row)} t`],
    ['Project', link('projects', row['project_id'], html`${project}`)],
    ['Vintage', shown(row['vintage'])],
    ['Retirement', html`<span class="id">${shown(row['id'])}</span>`],
    [
      'Serialization',
      row['serialization'] !== null && html`<span class="id">${shown(row['serialization'])}</span>`,
    ],
  ])}${card('Who', [
    ['Beneficiary', row['beneficiary'] === null ? 'nobody has claimed it yet' : shown(row['beneficiary'])],
    [
      'Retired by',
      link('organizations', row['organization_id'], html`${owner ?? shown(row['organization_id'])}`),
    ],
    ['Reason', shown(row['reason'])],
    ['Comment', shown(row['comment'])],
  ])}<section class="card"><h2>When</h2>${timeline(when)}</section>`;
}

function stop(what: Html, more: string): Stop {
  return { colour: 'good', what, more };
}

function amountOf(row: Row): string {
  return withThousands(String(row['amount_exact'] ?? 'an unknown amount of'));
}

function matched({ certificate: stored }: Explanation): Html {
  if (stored === null || stored.file === null) return badge('no certificate stored');
  return stored.state === 'as it was stored'
    ? badge('certificate matches its hash', 'good')
    : badge(`certificate is ${stored.state}`, 'bad');
}

function sentence(row: Row): Html {
  const whom =
    row['beneficiary'] === null ? 'nobody has claimed it yet' : html`for ${shown(row['beneficiary'])}`;
  const what = row['project_name'] ?? row['project_id'] ?? 'an unknown project';
  return html`${withThousands(String(row['amount_exact'] ?? 'An unknown amount'))} t of ${shown(what)} ${shown(row['vintage'])} retired, ${whom}`;
}

/** The file as it is now, held against the hash that was taken as it came. */
function certificate({ certificate: stored }: Explanation): Html {
  if (stored === null || stored.file === null) return html`<p>No certificate was stored by then.</p>`;
  const href = `/certificates/${encodeURIComponent(stored.file)}`;
  const matches = stored.state === 'as it was stored';
  return html`<p>${matches ? badge('It matches its hash.', 'good') : badge(`It does not match: the file is ${stored.state}.`, 'bad')} <a href="${href}">Open the certificate</a></p>
${certificateWords(stored).map(line => html`<p>${line}</p>`)}
${stored.state !== 'missing' && html`<object type="application/pdf" data="${href}" aria-label="The certificate"><a href="${href}">Open the certificate</a></object>`}`;
}

function why(explained: Explanation): Html {
  const { not_known: gaps } = explained;
  return html`${reasons(explained).map(line => html`<p>${line}</p>`)}${gaps.length > 0 && html`<h3>What cannot be known</h3><ul class="gaps">${gaps.map(gap => html`<li>${gap}</li>`)}</ul>`}`;
}

/** The same page, whatever comes later. */
function citation(row: Row, { at }: Explanation): string {
  return `/retirements/${encodeURIComponent(String(row['id']))}?${new URLSearchParams({ [AS_OF]: at }).toString()}`;
}
