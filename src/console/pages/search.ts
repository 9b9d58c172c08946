import type { Row } from '../../store/contract/tables.js';
import { findNumbered, type Hits, search, SEARCHED_ROWS } from '../../query/search.js';
import type { List } from '../../query/lists/list.js';
import { formatCount, withThousands } from '../../text/numbers.js';
import type { Ask, Page } from '../page.js';
import { textIn } from '../components/cell.js';
import { html, type Html } from '../components/html.js';
import { labelOf } from '../components/words.js';

/** One character is found everywhere. */
const SHORTEST = 2;
const LONGEST = 200;
export const SEARCH: Page = {
  path: '/search',
  asks: ['q'],
  show: async ({ reader, query }: Ask) => {
    const text = (query.get('q') ?? '').trim().slice(0, LONGEST);
    const numbered = /^\d{1,15}$/.test(text) ? await findNumbered(reader, Number(text)) : [];
    const isShort = text.length < SHORTEST;
    const body = html`<h1>${isShort ? 'Search' : `Search for “${text}”`}</h1>
${numbered.length > 0 && html`<p>${numbered.map(list => html`<a href="${hrefOf(list, String(Number(text)))}">${list.one} ${Number(text)}</a> `)}</p>`}`;
    return {
      title: 'Search',
      body,
      later: async () => (isShort ? HOW : found(await search(reader, text))),
    };
  },
};

function found(hits: readonly Hits[]): Html {
  const count = hits.reduce((sum, { rows }) => sum + rows.length, 0);
  return html`<p id="found">${formatCount(count, 'result')}</p>
${hits.map(group)}
${HOW}`;
}

const HOW = html`<p>Search by the start of any id, or by text in the newest ${withThousands(SEARCHED_ROWS)} rows of each table: names, serializations, beneficiaries, comments and errors. Up to ten results of each kind are shown.</p>`;

function group({ list, column, rows }: Hits): Html {
  return html`<section class="card"><h2>${list.title}, by ${labelOf(column)}</h2><ul class="hits">${rows.map(
    row =>
      html`<li><a href="${hrefOf(list, String(row[list.named]))}">${String(row[column])}</a> ${about(row, column)}</li>`,
  )}</ul></section>`;
}

function about(row: Row, column: string): string {
  const amount = textIn(row, 'amount_exact');
  const words = ['full_name', 'beneficiary', 'project_name', 'vintage'].filter(name => name !== column);
  return [
    ...(amount === null ? [] : [`${withThousands(amount)} t`]),
    ...words.flatMap(name => textIn(row, name) ?? []),
  ].join(', ');
}

/** A page of its own where it has one, else the list with this row alone. */
function hrefOf({ name, leads, named }: List, text: string): string {
  const id = encodeURIComponent(text);
  if (name === 'certificates') return `/retirements/${id}`;
  return leads ? `/${name}/${id}` : `/${name}?${named}=${id}`;
}
