import type { Row } from '../../store/contract/tables.js';
import { WAITING } from '../../query/freshness/describe-freshness.js';
import type { ListFreshness } from '../../query/freshness/read-freshness.js';
import type { FindRestatement } from '../../query/history/restated-fields.js';
import type { ListColumn } from '../../query/lists/column.js';
import type { List, ListSort } from '../../query/lists/list-type.js';
import { SORT } from '../../query/lists/parse-request.js';
import { findList } from '../../query/lists/list-definitions.js';
import { withAsOf, withQuery } from '../components/as-of.js';
import { isNumericKind, renderCopyableId, renderValue } from '../components/table-cell.js';
import { renderLabelledValues } from '../components/detail-page.js';
import { capitalize } from '../components/column-labels.js';
import { renderFreshnessState } from '../components/freshness.js';
import { html, type Html } from '../components/html.js';
import { renderRestatedBadge } from '../components/badges.js';
import type { ColumnSort, TableColumn } from '../components/table.js';
import { renderTermLabel } from '../components/glossary.js';
import type { ConsoleRequest } from '../page.js';

/** Facts about the rows of a page that no column of the list contains. */
export interface RowNotes {
  readonly freshness: ListFreshness | null;
  /** Null if the rows are neither retirements nor their certificates. */
  readonly findRestatement: FindRestatement | null;
}

type ColumnRequest = Pick<ConsoleRequest, 'now' | 'at' | 'query'>;

/** Creates the table columns of a list. Adds the column "Freshness" if the data of any organization is not fresh. */
export function createListColumns(
  list: List,
  request: ColumnRequest,
  { freshness, findRestatement }: RowNotes,
): readonly TableColumn<Row>[] {
  const columns = selectShownColumns(list).map(column => {
    const sort = createColumnSort(list, column, request);
    return {
      ...labelColumn(column),
      cell: (row: Row) => renderListCell(list, row, column, request, findRestatement),
      numeric: isNumericKind(column.kind),
      isSum: column.kind === 'tonnes',
      isImportant: column.isImportant,
      ...(sort !== null && { sort }),
    };
  });
  const hasIdsOutsideTable =
    list.detailList === null && list.columns.some(column => isIdOutsideTable(list, column));
  const ids = hasIdsOutsideTable ? [createIdsColumn(list, request)] : [];
  if (freshness === null || freshness.areAllFresh) return [...columns, ...ids];
  const renderState = (row: Row) => {
    const standing = freshness.standingOf(row) ?? WAITING;
    const content = renderFreshnessState(standing);
    return standing.state === 'fresh' ? content : html`<span class="not-fresh">${content}</span>`;
  };
  return [...columns, { name: 'Freshness', cell: renderState }, ...ids];
}

/**
 * Selects the columns that the table of a list shows, names first. Omits an id if the table shows a name instead. Also omits an id that is
 * shown elsewhere: on the page of the row, or by the button that lists the ids of the row.
 */
function selectShownColumns(list: List): ListColumn[] {
  const { columns } = list;
  const replacedIds = columns.flatMap(({ name, link }) =>
    link === null || link.idColumn === name ? [] : link.idColumn,
  );
  const isName = (column: ListColumn) => isNameColumn(columns, column);
  const isShown = (column: ListColumn) =>
    isName(column) || !(replacedIds.includes(column.name) || isIdOutsideTable(list, column));
  return columns.filter(isShown).toSorted((one, other) => Number(isName(other)) - Number(isName(one)));
}

/** Returns whether a column is an id that the table omits, because the row's own page or a button of the row shows it. */
function isIdOutsideTable({ detailList }: List, { kind, link }: ListColumn): boolean {
  if (kind !== 'id') return false;
  return link === null || (detailList !== null && findList(link.list).entry !== null);
}

/** Creates the column with a button that shows the ids of a row, for lists whose rows have no page. */
function createIdsColumn({ columns, idColumn, singular }: List, { at }: ColumnRequest): TableColumn<Row> {
  const idColumns = columns.filter(({ kind }) => kind === 'id');
  const renderId = (row: Row, { name, link }: ListColumn) => {
    const id = row[name];
    if (typeof id !== 'string') return false;
    const content = html`<span class="id">${id}</span>`;
    const href = link === null ? null : toDetailHref(findList(link.list), id, at);
    return renderCopyableId(id, href === null ? content : html`<a href="${href}">${content}</a>`);
  };
  return {
    name: 'Ids',
    heading: html`<span class="unseen">Ids</span>`,
    cell: row => {
      const ids = idColumns.flatMap(column => {
        const content = renderId(row, column);
        return content === false ? [] : [[labelColumn(column).name, content] as const];
      });
      if (ids.length === 0) return false;
      const elementId = `ids-${String(row[idColumn])}`;
      return html`<button type="button" class="ids" popovertarget="${elementId}">Ids</button><div id="${elementId}" popover class="card"><h2>Ids of this ${singular}</h2>${renderLabelledValues(ids)}</div>`;
    },
  };
}

/** Whether a column identifies a row to people, such as `beneficiary` for retirements. */
function isNameColumn(columns: readonly ListColumn[], column: ListColumn): boolean {
  return column === (columns.find(({ isName }) => isName) ?? columns[0]);
}

/** Returns the name and heading of a column. The heading links to the help page if the help page explains the column. */
function labelColumn({ name: column, label }: ListColumn) {
  const name = capitalize(label);
  return { name, heading: renderTermLabel(column, name) };
}

/** Creates the sort link in the heading of a column. Returns null if the list cannot be sorted by this column. */
function createColumnSort(
  { name: listName, sorts, order }: List,
  { name }: ListColumn,
  { query }: ColumnRequest,
): ColumnSort | null {
  const ofColumn = sorts.filter(({ column }) => column === name);
  const isCurrent = (sort: ListSort) => JSON.stringify(sort.order) === JSON.stringify(order);
  const current = ofColumn.find(isCurrent);
  const next = ofColumn.find(sort => !isCurrent(sort));
  if (next === undefined) return null;
  const direction = current?.order[0]?.[1] === 'asc' ? 'ascending' : 'descending';
  return {
    direction: current === undefined ? null : direction,
    href: withQuery(`/${listName}`, query, { [SORT]: next.name, after: null }),
    title: `${capitalize(next.name)} first`,
  };
}

/** Renders a cell of a list. Names and ids link to their detail page. */
function renderListCell(
  list: List,
  row: Row,
  column: ListColumn,
  { now, at }: ColumnRequest,
  findRestatement: FindRestatement | null,
): Html {
  const { name, kind, link, placeholder } = column;
  const value = row[name];
  const content =
    placeholder !== null && !value
      ? html`<span class="quiet">${placeholder}</span>`
      : renderValue(kind, value, now);
  if (list.detailList !== null && isNameColumn(list.columns, column)) {
    const href = toDetailHref(list, String(row[list.idColumn]), at);
    return html`<a href="${href}">${content}</a>${renderRestatement(list, row, findRestatement)}`;
  }
  if (link === null) return content;
  const linkedId = row[link.idColumn];
  if (linkedId === '' || (typeof linkedId !== 'string' && typeof linkedId !== 'number')) return content;
  const label = value === null ? renderValue('id', linkedId, now) : content;
  return html`<a href="${toDetailHref(findList(link.list), String(linkedId), at)}">${label}</a>`;
}

/**
 * Renders a badge if the registry restated the retirement of a row: changed it after its year had ended, or replaced its
 * certificate. Returns false otherwise.
 */
function renderRestatement(
  { idColumn }: List,
  row: Row,
  findRestatement: FindRestatement | null,
): Html | false {
  if (findRestatement === null) return false;
  const id = String(row[idColumn]);
  const restatedAt = findRestatement({ organizationId: String(row['organization_id']), id });
  return restatedAt !== null && html` ${renderRestatedBadge(id, restatedAt)}`;
}

/**
 * Returns the URL of the page that shows the row with this id. If the rows of the list have no pages, returns the URL of the list
 * filtered by the id.
 */
export function toDetailHref({ name, detailList, idColumn }: List, id: string, at: string | null): string {
  const encodedId = encodeURIComponent(id);
  return withAsOf(
    detailList === null ? `/${name}?${idColumn}=${encodedId}` : `/${detailList}/${encodedId}`,
    at,
  );
}
