import type { Row } from '../../store/contract/tables.js';
import { findNumbered, type Hits, search, SEARCHED_ROWS } from '../../query/search.js';
import type { List } from '../../query/lists/list.js';
import { formatCount, formatWithCommas } from '../../text/numbers.js';
import type { PageRequest, ConsolePage } from '../page.js';
import { getText } from '../components/cell.js';
import { html, type Html } from '../components/html.js';
import { toLabel } from '../components/formats.js';

/** A single character would match almost every row. */
const MIN_LENGTH = 2;
const MAX_LENGTH = 200;
export const SEARCH: ConsolePage = {
  path: '/search',
  parameters: ['q'],
  render: async ({ reader, query }: PageRequest) => {
    const text = (query.get('q') ?? '').trim().slice(0, MAX_LENGTH);
    const numbered = /^\d{1,15}$/.test(text) ? await findNumbered(reader, Number(text)) : [];
    const isShort = text.length < MIN_LENGTH;
    const body = html`<h1>${isShort ? 'Search' : `Search for “${text}”`}</h1>
${numbered.length > 0 && html`<p>${numbered.map(list => html`<a href="${toHitHref(list, String(Number(text)))}">${list.one} ${Number(text)}</a> `)}</p>`}`;
    return {
      title: 'Search',
      body,
      renderRest: async () => (isShort ? HOW : renderHits(await search(reader, text))),
    };
  },
};

function renderHits(hits: readonly Hits[]): Html {
  const count = hits.reduce((sum, { rows }) => sum + rows.length, 0);
  return html`<p id="found">${formatCount(count, 'result')}</p>
${hits.map(renderHitGroup)}
${HOW}`;
}

const HOW = html`<p>Search by the start of any id, or by text in the newest ${formatWithCommas(SEARCHED_ROWS)} rows of each table: names, serializations, beneficiaries, comments and errors. Up to ten results of each kind are shown.</p>`;

function renderHitGroup({ list, column, rows }: Hits): Html {
  return html`<section class="card"><h2>${list.title}, by ${toLabel(column)}</h2><ul class="hits">${rows.map(
    row =>
      html`<li><a href="${toHitHref(list, String(row[list.named]))}">${String(row[column])}</a> ${summarizeRow(row, column)}</li>`,
  )}</ul></section>`;
}

function summarizeRow(row: Row, column: string): string {
  const amount = getText(row, 'amount_exact');
  const words = ['full_name', 'beneficiary', 'project_name', 'vintage'].filter(name => name !== column);
  return [
    ...(amount === null ? [] : [`${formatWithCommas(amount)} t`]),
    ...words.flatMap(name => getText(row, name) ?? []),
  ].join(', ');
}

/** Returns the URL of the detail page, or of the list with only this row. */
function toHitHref({ name, leads, named }: List, text: string): string {
  const id = encodeURIComponent(text);
  if (name === 'certificates') return `/retirements/${id}`;
  return leads ? `/${name}/${id}` : `/${name}?${named}=${id}`;
}
