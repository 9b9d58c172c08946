import { formatRest, MAX_SHOWN } from '../../text/numbers.js';
import { withQuery } from './as-of.js';
import { isEmpty } from './cell.js';
import { html, type Html, type Part } from './html.js';

export interface TableColumn<Row> {
  readonly name: string;
  /** Replaces the name above the column, for example by a link. */
  readonly heading?: Part;
  readonly cell: (row: Row) => Part;
  /** Numbers stand below each other. */
  readonly numeric?: boolean;
}

interface Around {
  /** What stands there where no row does. */
  readonly empty?: Part;
  /** Below the rows. */
  readonly more?: Part;
  /** Beside the sentence. */
  readonly beside?: Part;
}

/** Rows of anything, with one sentence that says what they are; on a narrow screen a row is a card. What no row has is no column. */
export function table<Row>(
  caption: Part,
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  { empty = 'No rows.', more = null, beside = null }: Around = {},
): Html {
  const filled = columns
    .map(column => ({ ...column, cells: rows.map(row => html`${column.cell(row)}`) }))
    .filter(({ cells }) => cells.some(({ text }) => !isEmpty(text)));
  const cellsOf = (place: number) =>
    filled.map(
      ({ name, cells, numeric }) => html`<td data-label="${name}"${numeric && NUMERIC}>${cells[place]}</td>`,
    );
  return html`<div class="wide" tabindex="0" role="region" aria-label="${caption}"><table class="cards">
<caption>${caption}${beside}</caption>
${
  rows.length > 0 &&
  html`<thead><tr>${filled.map(({ name, heading = name, numeric, cells }) => html`<th scope="col"${numeric && NUMERIC}>${heading}${cells.some(({ text }) => text.includes('<i>')) && html`<i></i>`}</th>`)}</tr></thead>
<tbody>${rows.map((_, place) => html`<tr>${cellsOf(place)}</tr>\n`)}</tbody>`
}
</table>${rows.length === 0 && html`<p class="empty">${empty}</p>`}${more}</div>`;
}

/** The word of the first page that asks for the whole of its lists. */
export const ALL = 'all';

/** How many rows of a list of the first page are shown. */
export function mostOf(query: URLSearchParams, most = MAX_SHOWN): number {
  return query.has(ALL) ? Infinity : most;
}

/** The way to the whole of the lists of the first page. */
export function toAll(query: URLSearchParams, says: Part): Html {
  return html`<a href="${withQuery('/', query, { [ALL]: 'yes' })}">${says}</a>`;
}

/** Of a list of the first page: how many more there are and the way to them; all where the address asks for all. */
export function firstOf<Row>(
  caption: Part,
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  query: URLSearchParams,
  {
    count = rows.length,
    most = MAX_SHOWN,
    more = null,
  }: { readonly count?: number; readonly most?: number; readonly more?: Part } = {},
): Html {
  const left = formatRest(count, most);
  const isAll = left === null || query.has(ALL);
  const rest = !isAll && toAll(query, left);
  return table(caption, columns, isAll ? rows : rows.slice(0, most), {
    more: (rest !== false || more !== null) && html`<div class="more">${rest}${more}</div>`,
  });
}

const NUMERIC = html` class="number"`;
