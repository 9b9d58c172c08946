import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { type Explanation, explainRow } from '../../query/history/explanation.js';
import { readHistory } from '../../query/lists/find.js';
import { wordsOf } from '../../query/freshness.js';
import { readStates } from '../../query/reads/freshness.js';
import { LISTS } from '../../resources/lists.js';
import { certificateWords, reasons } from '../../text/read-behind.js';
import { type Ask, page, type Shown } from '../page.js';
import { AS_OF } from '../components/as-of.js';
import { asSent, facts } from '../components/facts.js';
import { html, type Html } from '../components/html.js';
import { versions } from '../components/versions.js';
import { shown } from '../components/words.js';

interface Retirement {
  /** Null where none was known by then. */
  readonly row: Row | null;
  readonly isGone: boolean;
  readonly history: readonly Row[];
  readonly explained: Explanation;
}

const WITHOUT = [
  'version',
  'document',
  'sync_id',
  'amount',
  'amount_micro',
  'valid_to',
  'closed_version',
  'closed_by',
];

export const RETIREMENT = page('/retirements/:id', read, show, { isDated: true });

async function read({ reader, params, at, now, inspect, contradicted }: Ask): Promise<Retirement | null> {
  const { id = '' } = params;
  const all = await readHistory(reader, LISTS.retirements, id);
  const history = toldBy(at, all);
  const found = history.findLast(isStanding) ?? history.at(-1) ?? null;
  const row = found === null || at !== null ? found : await stated(reader, found);
  const any = row ?? all[0];
  if (any === undefined) return null;
  const own = all.filter(each => each['organization_id'] === any['organization_id']);
  const ground = { reader, inspect, contradicted, at: at ?? new Date(now).toISOString() };
  return {
    row,
    isGone: row !== null && !isStanding(row),
    history,
    explained: await explainRow(ground, LISTS.retirements, own),
  };
}

/** How fresh the list is in which it stands. */
async function stated(reader: Reader, row: Row): Promise<Row> {
  const states = await readStates(reader, 'retirements', String(row['organization_id']));
  const standing = states?.standingOf(row) ?? null;
  return { ...row, freshness: standing === null ? null : wordsOf(standing) };
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

function show({ row, isGone, history, explained }: Retirement, { now, at }: Ask): Shown {
  const title = `Retirement ${explained.id}`;
  if (row === null)
    return { title, body: html`<h1>${title} was not known to the mirror then.</h1>${why(explained)}` };
  const body = html`<h1 id="sentence" data-live>${sentence(row)}${isGone && html` <span class="state gone">The registry does not show it any more.</span>`}</h1>
<section id="facts" data-live>${facts(row, { now, at }, WITHOUT)}</section>
<section id="certificate" data-live><h2>Certificate</h2>${certificate(explained)}</section>
<section id="why" data-live><h2>Why it stands here</h2>${why(explained)}</section>
<section id="versions" data-live><h2>What the registry showed of it, newest first</h2>${versions(history, now)}</section>
${typeof row['document'] === 'string' && asSent('The object as the registry sent it', row['document'])}
<p class="cite">To cite it: <a href="${citation(row, explained)}">${citation(row, explained)}</a></p>`;
  return { title, body };
}

function sentence(row: Row): Html {
  const whom =
    row['beneficiary'] === null ? 'nobody has claimed it yet' : html`for ${shown(row['beneficiary'])}`;
  const what = row['project_name'] ?? row['project_id'] ?? 'an unknown project';
  return html`${shown(row['amount_exact'] ?? 'An unknown amount')} t of ${shown(what)} ${shown(row['vintage'])} retired, ${whom}`;
}

/** The file as it is now, held against the hash that was taken as it came. */
function certificate({ certificate: stored }: Explanation): Html {
  if (stored === null || stored.file === null) return html`<p>No certificate was stored by then.</p>`;
  const href = `/certificates/${encodeURIComponent(stored.file)}`;
  const matches = stored.state === 'as it was stored';
  return html`<p><span class="state ${matches ? 'stored' : 'failed'}">${matches ? 'It matches its hash.' : `It does not match: the file is ${stored.state}.`}</span> <a href="${href}">Open the certificate</a></p>
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
