import type { Row } from '../../engines/contract/tables.js';
import { type Paged, type Paging, readPage } from '../../query/paged.js';
import { type Ask, page, type Page } from '../page.js';
import { cell, isNumeric } from '../parts/cell.js';
import { html, type Html, type Part } from '../parts/html.js';
import { table } from '../parts/table.js';
import { withThousands } from '../../text/thousands.js';
import { counted } from '../parts/words.js';
import { cursorOf, isSortable, pagingOf } from './asked.js';
import type { Listing } from './listing.js';

interface Answer {
  readonly paging: Paging;
  readonly paged: Paged;
}

export function listPage(listing: Listing): Page {
  return page(
    `/${listing.path}`,
    async ({ reader, query }: Ask): Promise<Answer> => {
      const paging = pagingOf(listing, query);
      return { paging, paged: await readPage(reader, paging) };
    },
    (answer, ask) => ({ title: listing.title, body: show(listing, answer, ask) }),
  );
}

function show(listing: Listing, { paging, paged }: Answer, { now, query }: Ask): Html {
  const { title, columns, one } = listing;
  return html`<h1>${title}</h1>
${filters(listing, query)}
<section id="rows" data-live>${table(
    caption(paging, paged, one),
    columns.map(column => ({
      name: heading(listing, paging, query, column),
      cell: (row: Row) => leading(listing, row, column, cell(column, row[column], now)),
      numeric: isNumeric(column),
    })),
    paged.rows,
  )}
<p class="under">${query.has('after') && html`<a href="${address(listing, query, { after: null })}">First page</a>`}
${paged.next !== null && html`<a href="${address(listing, query, { after: cursorOf(paged.next) })}" rel="next">Next page</a>`}
<a href="${address(listing, query, { after: null }, '.csv')}">CSV</a> <a href="${address(listing, query, { after: null }, '.json')}">JSON</a></p>
</section>
<details><summary>The SQL of this page</summary><pre>${paged.sql}</pre></details>`;
}

function heading(listing: Listing, paging: Paging, query: URLSearchParams, column: string): Part {
  const words = column.replaceAll('_', ' ');
  if (!isSortable(column)) return words;
  const sorted = address(listing, query, { sort: turned(paging, column), after: null });
  return html`<a href="${sorted}">${words}</a>${arrow(paging, column)}`;
}

function caption({ filters: set }: Paging, { count, isCountedToTheEnd }: Paged, one: string): string {
  const how = isCountedToTheEnd
    ? counted(count, one, `${one}s`)
    : `More than ${withThousands(count)} ${one}s`;
  return set.length === 0
    ? how
    : `${how} with ${set.map(([column, value]) => `${column} ${value}`).join(', ')}`;
}

function filters({ path, filters: names }: Listing, query: URLSearchParams): Html | false {
  if (names.length === 0) return false;
  return html`<form class="filters" method="get" action="/${path}" role="search">
${names.map(
  name => html`<label>${name.replaceAll('_', ' ')}<input name="${name}" value="${query.get(name)}"></label>`,
)}
<button>Show</button> <a href="/${path}">All</a></form>`;
}

function leading({ path, leads }: Listing, row: Row, column: string, content: Html): Html {
  if (column !== leads) return content;
  return html`<a href="/${path}/${encodeURIComponent(String(row[column]))}">${content}</a>`;
}

function turned({ order }: Paging, column: string): string {
  const [first] = order;
  return first?.[0] === column && first[1] === 'asc' ? `-${column}` : column;
}

function arrow({ order }: Paging, column: string): Html | false {
  const [first] = order;
  if (first?.[0] !== column) return false;
  return first[1] === 'asc' ? html` <span title="rising">↑</span>` : html` <span title="falling">↓</span>`;
}

function address(
  { path }: Listing,
  query: URLSearchParams,
  changes: Readonly<Record<string, string | null>>,
  ending = '',
): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) next.delete(name);
    else next.set(name, value);
  }
  return `/${path}${ending}${next.size === 0 ? '' : `?${next.toString()}`}`;
}
