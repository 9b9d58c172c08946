import type { Row } from '../../engines/contract/tables.js';
import { findNumbered, type Hits, search, SEARCHED_ROWS } from '../../query/search.js';
import { findEntry } from '../../resources/resources.js';
import { nameOf } from '../../resources/entry.js';
import { withThousands } from '../../text/thousands.js';
import { LISTINGS } from '../lists/listings.js';
import type { Ask, Page } from '../page.js';
import { textIn } from '../parts/cell.js';
import { html, type Html } from '../parts/html.js';
import { counted } from '../parts/words.js';

/** One character is found everywhere. */
const SHORTEST = 2;
const LONGEST = 200;
const NUMBER = /^\d{1,15}$/;
const NUMBERED = {
  'inbox.deliveries': ['/deliveries/', 'Delivery'],
  'inbox.jobs': ['/jobs/', 'Job'],
  sync_runs: ['/runs?id=', 'Read'],
} as const;

export const SEARCH: Page = {
  path: '/search',
  isDated: false,
  show: async ({ reader, query }: Ask) => {
    const text = (query.get('q') ?? '').trim().slice(0, LONGEST);
    const numbered = NUMBER.test(text) ? await findNumbered(reader, Number(text)) : [];
    const isShort = text.length < SHORTEST;
    const body = html`<h1>${isShort ? 'What are you looking for?' : `Search for “${text}”`}</h1>
${numbered.length > 0 && html`<p>${numbered.map(table => leadTo(NUMBERED[table], Number(text)))}</p>`}`;
    return {
      title: 'Search',
      body,
      later: async () => (isShort ? HOW : found(await search(reader, text))),
    };
  },
};

function leadTo([path, what]: readonly [string, string], number: number): Html {
  return html`<a href="${path}${number}">${what} ${number}</a> `;
}

function found(hits: readonly Hits[]): Html {
  const count = hits.reduce((sum, { rows }) => sum + rows.length, 0);
  return html`<p id="found">${counted(count, 'hit')}</p>
${hits.map(group)}
${HOW}`;
}

const HOW = html`<p>Ids are found by their beginnings among all rows. Names, serializations, beneficiaries, comments and error texts are looked for among the newest ${withThousands(SEARCHED_ROWS)} rows of each table; of each ten are shown.</p>`;

function group({ table, column, rows }: Hits): Html {
  const title =
    LISTINGS.find(listing => listing.from === table || fromOf(table) === listing.from)?.title ?? table;
  return html`<h2>${title}, by ${column.replaceAll('_', ' ')}</h2><ul>${rows.map(
    row => html`<li><a href="${hrefOf(table, row)}">${String(row[column])}</a> ${about(row, column)}</li>`,
  )}</ul>`;
}

function fromOf(table: string): string | undefined {
  return findEntry(table)?.shown.from;
}

function about(row: Row, column: string): string {
  const words = ['full_name', 'amount_exact', 'beneficiary', 'project_name', 'vintage'];
  return words.flatMap(name => (name === column ? [] : (textIn(row, name) ?? []))).join(', ');
}

/** A page of its own where it has one, else the list with this row alone. */
function hrefOf(table: string, row: Row): string {
  const entry = findEntry(table);
  if (entry === undefined)
    return `/${table === 'sync_runs' ? `runs?id=${String(row['id'])}` : `jobs/${String(row['id'])}`}`;
  const listing = LISTINGS.find(({ from }) => from === entry.shown.from);
  const name = nameOf(entry);
  const id = encodeURIComponent(String(row[name]));
  if (table === 'certificates') return `/retirements/${id}`;
  return listing?.leads === name ? `/${listing.path}/${id}` : `/${listing?.path ?? ''}?${name}=${id}`;
}
