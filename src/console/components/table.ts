import { formatOmittedCount, MAX_SHOWN } from '../../text/numbers.js';
import { withQuery } from './as-of.js';
import { isEmptyCell } from './table-cell.js';
import { html, type Html, type HtmlContent } from './html.js';

export interface TableColumn<Row> {
  readonly name: string;
  /** Replaces the name above the column, for example by a link. */
  readonly heading?: HtmlContent;
  readonly cell: (row: Row) => HtmlContent;
  /** Aligns the values by their decimal point. */
  readonly numeric?: boolean;
  /** Makes the heading a link that sorts the rows. */
  readonly sort?: ColumnSort;
  /** Marks the column of the sum, which a narrow screen shows beside the name. */
  readonly isSum?: boolean;
  /** Puts the column before the others where there is little space. A narrow screen shows two lines of each row. */
  readonly isImportant?: boolean;
}

/** How a column heading sorts the rows. */
export interface ColumnSort {
  /** The order of the rows, if they are sorted by this column. */
  readonly direction: 'ascending' | 'descending' | null;
  /** The page with the rows in the next order, and its name for the tooltip. */
  readonly href: string;
  readonly title: string;
}

interface TableExtras {
  /** Shown if there are no rows. */
  readonly empty?: HtmlContent;
  readonly footer?: HtmlContent;
  /** Shown next to the caption. */
  readonly captionExtra?: HtmlContent;
  /** Whether a click on a row follows its first link or presses its button. A narrow screen shows two lines of such a row. */
  readonly hasRowLinks?: boolean;
  /** Whether a narrow screen shows only two lines of each row. */
  readonly isBrief?: boolean;
}

/** Renders an HTML table. Leaves out columns that are empty or zero in every row. */
export function renderTable<Row>(
  caption: HtmlContent,
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  {
    empty = 'No rows.',
    footer = null,
    captionExtra = null,
    hasRowLinks = false,
    isBrief = hasRowLinks,
  }: TableExtras = {},
): Html {
  const filledColumns = columns
    .map(column => ({ ...column, cells: rows.map(row => html`${column.cell(row)}`) }))
    .filter(({ cells }) => cells.some(({ text }) => !isEmptyCell(text)));
  const renderHeading = ({ name, heading = name, numeric, sort, cells }: (typeof filledColumns)[number]) =>
    html`<th scope="col"${numeric && NUMERIC}${sort?.direction && html` aria-sort="${sort.direction}"`}>${sort === undefined ? heading : html`<a class="sort" href="${sort.href}" title="${sort.title}">${heading}</a>`}${cells.some(({ text }) => text.includes('<i>')) && html`<i></i>`}</th>`;
  const renderRowAt = (index: number) =>
    html`<tr${hasRowLinks ? html` class="link brief"` : isBrief && html` class="brief"`}>${filledColumns.map(
      ({ name, cells, numeric, isSum, isImportant }) =>
        html`<td data-label="${name}"${isSum ? SUM : numeric ? NUMERIC : isImportant && IMPORTANT}>${cells[index]}</td>`,
    )}</tr>\n`;
  // On a narrow screen, the class `cards` shows each row as a card.
  return html`<div class="wide" tabindex="0" role="region" aria-label="${caption}"><table class="cards">
<caption>${caption}${captionExtra}</caption>
${
  rows.length > 0 &&
  html`<thead><tr>${filledColumns.map(renderHeading)}</tr></thead>
<tbody>${rows.map((_, index) => renderRowAt(index))}</tbody>`
}
</table>${rows.length === 0 && html`<p class="empty">${empty}</p>`}${footer}</div>`;
}

/** URL parameter of Now that shows its lists in full. */
export const ALL = 'all';

/** Returns the row limit of a table of the start page: Infinity if the URL has the parameter `all`. */
export function getRowLimit(query: URLSearchParams, limit = MAX_SHOWN): number {
  return query.has(ALL) ? Infinity : limit;
}

/** Renders a link to the start page with the URL parameter `all`, which shows every row of the tables. */
export function renderShowAllLink(query: URLSearchParams, label: HtmlContent): Html {
  return html`<a href="${withQuery('/', query, { [ALL]: 'yes' })}">${label}</a>`;
}

interface TopRowsOptions {
  /** How many rows there are, if `rows` has only the first of them. */
  readonly totalCount?: number;
  readonly limit?: number;
  readonly footer?: HtmlContent;
}

/** Renders a table with its first `limit` rows, or with all rows if the URL has the parameter `all`. */
export function renderTopRows<Row>(
  caption: HtmlContent,
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  query: URLSearchParams,
  { totalCount = rows.length, limit = MAX_SHOWN, footer = null }: TopRowsOptions = {},
): Html {
  const restLabel = formatOmittedCount(totalCount, limit);
  const showsAll = restLabel === null || query.has(ALL);
  const restLink = !showsAll && renderShowAllLink(query, restLabel);
  return renderTable(caption, columns, showsAll ? rows : rows.slice(0, limit), {
    footer: (restLink !== false || footer !== null) && html`<div class="more">${restLink}${footer}</div>`,
  });
}

const NUMERIC = html` class="number"`;
const SUM = html` class="number amount"`;
const IMPORTANT = html` class="important"`;
