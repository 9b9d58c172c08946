import type { Row } from '../../store/contract/tables.js';
import { WAITING } from '../../query/freshness/words.js';
import type { ListFreshness } from '../../query/freshness/read.js';
import type { ListColumn } from '../../query/lists/column.js';
import type { List } from '../../query/lists/list.js';
import { findList } from '../../query/lists/lists.js';
import { withAsOf } from '../components/as-of.js';
import { isNumericKind, renderValue } from '../components/table-cell.js';
import { capitalize } from '../components/column-labels.js';
import { renderFreshnessState } from '../components/freshness.js';
import { html, type Html } from '../components/html.js';
import type { TableColumn } from '../components/table.js';
import { renderTermLabel } from '../components/glossary.js';
import type { ConsoleRequest } from '../page.js';

/** Creates the table columns of a list. Adds the column "Freshness" if the data of any organization is not fresh. */
export function createListColumns(
  list: List,
  request: Pick<ConsoleRequest, 'now' | 'at'>,
  freshness: ListFreshness | null,
): readonly TableColumn<Row>[] {
  const columns = orderColumns(list).map(column => ({
    ...labelColumn(column),
    cell: (row: Row) => renderListCell(list, row, column, request),
    numeric: isNumericKind(column.kind),
  }));
  if (freshness === null || freshness.areAllFresh) return columns;
  const renderState = (row: Row) => renderFreshnessState(freshness.standingOf(row) ?? WAITING);
  return [...columns, { name: 'Freshness', cell: renderState }];
}

/** Returns the columns in display order. The name comes first, and ids come last. */
function orderColumns({ columns }: List): ListColumn[] {
  const replacedIds = columns.flatMap(({ name, link }) =>
    link === null || link.idColumn === name ? [] : link.idColumn,
  );
  const rank = (column: ListColumn) => (isNameColumn(columns, column) ? 0 : column.kind === 'id' ? 2 : 1);
  return columns
    .filter(({ name }) => !replacedIds.includes(name))
    .toSorted((one, other) => rank(one) - rank(other));
}

/** Whether a column identifies a row to people, such as `beneficiary` for retirements. */
function isNameColumn(columns: readonly ListColumn[], column: ListColumn): boolean {
  return column === (columns.find(({ isName }) => isName) ?? columns[0]);
}

/** Returns the name and heading of a column. The heading links to the help page if the name needs an explanation. */
function labelColumn({ name: column, label }: ListColumn) {
  const name = capitalize(label);
  return { name, heading: renderTermLabel(column, name) };
}

/** Renders a cell of a list. Names and ids link to their detail page. */
function renderListCell(
  list: List,
  row: Row,
  column: ListColumn,
  { now, at }: Pick<ConsoleRequest, 'now' | 'at'>,
): Html {
  const { name, kind, link, placeholder } = column;
  const value = row[name];
  const content =
    placeholder !== null && !value
      ? html`<span class="quiet">${placeholder}</span>`
      : renderValue(kind, value, now);
  if (list.detailList !== null && isNameColumn(list.columns, column))
    return html`<a href="${toDetailHref(list, String(row[list.idColumn]), at)}">${content}</a>`;
  if (link === null) return content;
  const linkedId = row[link.idColumn];
  if (linkedId === '' || (typeof linkedId !== 'string' && typeof linkedId !== 'number')) return content;
  const label = value === null ? renderValue('id', linkedId, now) : content;
  return html`<a href="${toDetailHref(findList(link.list), String(linkedId), at)}">${label}</a>`;
}

/** Returns the URL of the page of a row, or of the list filtered by its id if rows have no pages. */
export function toDetailHref({ name, detailList, idColumn }: List, id: string, at: string | null): string {
  const encodedId = encodeURIComponent(id);
  return withAsOf(
    detailList === null ? `/${name}?${idColumn}=${encodedId}` : `/${detailList}/${encodedId}`,
    at,
  );
}
