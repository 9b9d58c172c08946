import type { Row } from '../../engines/contract/tables.js';
import { type Paged, type Paging, readPage } from '../../query/paged.js';
import { type Known, readGaps } from '../../query/past/as-of.js';
import { type FreshnessSum, readStates, type States, sumFreshness } from '../../query/reads/freshness.js';
import type { Ask, Page } from '../page.js';
import { AS_OF, withAt, withQuery } from '../parts/as-of.js';
import { freshnessOf } from '../parts/freshness.js';
import { gapsOf } from '../parts/gaps.js';
import { cell, isNumeric } from '../parts/cell.js';
import { html, type Html, type Part } from '../parts/html.js';
import { leading } from '../parts/leading.js';
import { table } from '../parts/table.js';
import { withThousands } from '../../text/thousands.js';
import { badge, counted, manyOf } from '../parts/words.js';
import { cursorOf, isSortable, pagingOf, sortedBy } from './asked.js';
import type { Listing } from './listing.js';

interface Answer {
  readonly paging: Paging;
  readonly paged: Paged;
  readonly gaps: readonly Known[];
  /** Of what is known now; null where rows are of no resource, and as of an instant. */
  readonly freshness: readonly FreshnessSum[] | null;
  /** Of rows of a list that is read: how current they are. */
  readonly states: States | null;
  readonly above: Html | false;
}

/** Rows that no index finds take their time: they follow. */
export function listPage(listing: Listing): Page {
  const { path, title, dated } = listing;
  return {
    path: `/${path}`,
    isDated: dated !== null,
    show: async ask => ({
      title,
      body: html`<h1>${title}</h1>
${filters(listing, ask)}`,
      later: async () => show(listing, await read(listing, ask), ask),
    }),
  };
}

async function read(listing: Listing, ask: Ask): Promise<Answer> {
  const { reader, query, at } = ask;
  const paging = pagingOf(listing, query, at);
  const resource = listing.dated?.resource ?? null;
  const organization = query.get('organization_id') || null;
  const gaps = at === null || resource === null ? [] : await readGaps(reader, resource, at, organization);
  const freshness =
    at !== null || resource === null ? null : await sumFreshness(reader, resource, organization);
  const above = listing.above === null || query.has('after') ? false : await listing.above(ask);
  const states = at === null ? await readStates(reader, resource, organization) : null;
  return { paging, paged: await readPage(reader, paging), gaps, freshness, states, above };
}

function show(
  listing: Listing,
  { paging, paged, gaps, freshness, states, above }: Answer,
  { now, query, at }: Ask,
): Html {
  const { path, one, dated } = listing;
  const { columns } = paging;
  return html`<section id="above" data-live>${above}</section>
${freshness !== null && freshnessOf(freshness, now)}
<section id="rows" data-live>${table(
    caption(paging, paged, one, query),
    [
      ...columns.map(column => ({
        name: heading(listing, paging, query, column),
        cell: (row: Row) => leadingFrom(listing, row, column, cell(column, row[column], now), at),
        numeric: isNumeric(column),
      })),
      ...(states === null || states.areAllCurrent ? [] : [stateColumn(states)]),
    ],
    paged.rows,
  )}
<p class="under">${query.has('after') && html`<a href="${withQuery(`/${path}`, query, { after: null })}">First page</a>`}
${paged.next !== null && html`<a href="${withQuery(`/${path}`, query, { after: cursorOf(paged.next) })}" rel="next">Next page</a>`}
<a href="${withQuery(`/${path}.csv`, query, { after: null })}">CSV</a> <a href="${withQuery(`/${path}.json`, query, { after: null })}">JSON</a></p>
</section>
${gapsOf(dated?.resource ?? '', gaps)}
<details><summary>The SQL of this page</summary><pre>${paged.sql}</pre></details>`;
}

/** A row whose list is not current says so itself. */
function stateColumn({ stateOf }: States) {
  return { name: 'freshness', cell: (row: Row) => badge(stateOf(row) ?? 'never_read') };
}

function heading(listing: Listing, paging: Paging, query: URLSearchParams, column: string): Part {
  const words = column.replaceAll('_', ' ');
  if (!isSortable(listing, column)) return words;
  const sorted = withQuery(`/${listing.path}`, query, { sort: turned(listing, paging, column), after: null });
  return html`<a href="${sorted}">${words}</a>${arrow(listing, paging, column)}`;
}

function caption(
  { filters: set }: Paging,
  { count, isCountedToTheEnd }: Paged,
  one: string,
  query: URLSearchParams,
): string {
  const how = isCountedToTheEnd ? counted(count, one) : `More than ${withThousands(count)} ${manyOf(one)}`;
  return set.length === 0
    ? how
    : `${how} with ${set.map(([column]) => `${column} ${query.get(column)}`).join(', ')}`;
}

function filters({ path, filters: names }: Listing, { query, at }: Ask): Html | false {
  if (names.length === 0) return false;
  return html`<form class="filters" method="get" action="/${path}" role="search">
${query.has(AS_OF) && html`<input type="hidden" name="${AS_OF}" value="${query.get(AS_OF)}">`}
${names.map(
  name => html`<label>${name.replaceAll('_', ' ')}<input name="${name}" value="${query.get(name)}"></label>`,
)}
<button>Show</button> <a href="${withAt(`/${path}`, at)}">All</a></form>`;
}

function leadingFrom(
  { path, leads }: Listing,
  row: Row,
  column: string,
  content: Html,
  at: string | null,
): Html {
  const value = row[column];
  if (column !== leads) return leading(column, value, content, at);
  return html`<a href="${withAt(`/${path}/${encodeURIComponent(String(value))}`, at)}">${content}</a>`;
}

function turned(listing: Listing, { order }: Paging, column: string): string {
  const [first] = order;
  return first?.[0] === sortedBy(listing, column) && first[1] === 'asc' ? `-${column}` : column;
}

function arrow(listing: Listing, { order }: Paging, column: string): Html | false {
  const [first] = order;
  if (first?.[0] !== sortedBy(listing, column)) return false;
  return first[1] === 'asc' ? html` <span title="rising">↑</span>` : html` <span title="falling">↓</span>`;
}
