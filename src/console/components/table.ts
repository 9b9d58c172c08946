import { andMore, MOST_SHOWN } from '../../text/and-more.js';
import { withQuery } from './as-of.js';
import { html, type Html, type Part } from './html.js';

export interface TableColumn<Row> {
  readonly name: Part;
  readonly cell: (row: Row) => Part;
  /** Numbers stand below each other. */
  readonly numeric?: boolean;
}

/** Rows of anything, with one sentence that says what they are. */
export function table<Row>(caption: Part, columns: readonly TableColumn<Row>[], rows: readonly Row[]): Html {
  const cells = (row: Row) =>
    columns.map(({ cell, numeric }) => html`<td${numeric && NUMERIC}>${cell(row)}</td>`);
  return html`<div class="wide" tabindex="0" role="region" aria-label="${caption}"><table>
<caption>${caption}</caption>
<thead><tr>${columns.map(({ name, numeric }) => html`<th scope="col"${numeric && NUMERIC}>${name}</th>`)}</tr></thead>
<tbody>${rows.map(row => html`<tr>${cells(row)}</tr>\n`)}</tbody>
</table></div>`;
}

const ALL = 'all';

/** How many rows of a list of the first page are shown. */
export function mostOf(query: URLSearchParams): number {
  return query.has(ALL) ? Infinity : MOST_SHOWN;
}

/** Of a list of the first page: how many more there are and the way to them; all where the address asks for all. */
export function firstOf<Row>(
  caption: Part,
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  query: URLSearchParams,
  count = rows.length,
): Html {
  const more = andMore(count);
  if (more === null || query.has(ALL)) return table(caption, columns, rows);
  return html`${table(caption, columns, rows.slice(0, MOST_SHOWN))}<p class="under"><a href="${withQuery('/', query, { [ALL]: 'yes' })}">${more}</a></p>`;
}

const NUMERIC = html` class="number"`;
