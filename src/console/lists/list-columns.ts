import type { Row } from '../../store/contract/tables.js';
import { WAITING } from '../../query/freshness/words.js';
import type { ListFreshness } from '../../query/freshness/read.js';
import type { List } from '../../query/lists/list.js';
import { withAsOf } from '../components/as-of.js';
import { renderCell, isNumericColumn, renderDetailLink } from '../components/table-cell.js';
import { toHeading } from '../components/column-labels.js';
import { renderFreshnessState } from '../components/freshness.js';
import { html, type Html } from '../components/html.js';
import type { TableColumn } from '../components/table.js';
import { renderTermLabel } from '../components/glossary.js';
import type { ConsoleRequest } from '../page.js';

/** The column that identifies a row to people, by list. It comes first and links to the detail page. */
const NAME_COLUMNS: Readonly<Record<string, string>> = {
  retirements: 'beneficiary',
  certificates: 'retirement_id',
};
/** Columns of names, with the id column that each replaces. */
const ID_COLUMNS: Readonly<Record<string, string>> = {
  organization_name: 'organization_id',
  project_name: 'project_id',
};

/** Creates the table columns of a list. Adds the column "Freshness" if the data of any organization is not fresh. */
export function createListColumns(
  list: List,
  request: Pick<ConsoleRequest, 'now' | 'at'>,
  freshness: ListFreshness | null,
): readonly TableColumn<Row>[] {
  const columns = orderColumns(list).map(column => ({
    ...labelColumn(list, column),
    cell: (row: Row) => renderListCell(list, row, column, request),
    numeric: isNumericColumn(column),
  }));
  if (freshness === null || freshness.areAllFresh) return columns;
  const renderState = (row: Row) => renderFreshnessState(freshness.standingOf(row) ?? WAITING);
  return [...columns, { name: 'Freshness', cell: renderState }];
}

/** Returns the column that identifies a row to people, such as `beneficiary` for retirements. */
function findNameColumn({ name, columns }: List): string {
  return NAME_COLUMNS[name] ?? columns[0] ?? '';
}

/** Returns the columns in display order. The name comes first, and ids come last. */
function orderColumns(list: List): string[] {
  const first = findNameColumn(list);
  const replacedIds = list.columns.flatMap(column => ID_COLUMNS[column] ?? []);
  const others = list.columns.filter(column => column !== first && !replacedIds.includes(column));
  const isId = (column: string) => /(^|_)id$/.test(column);
  // Ids whose name has a column of its own are left out.
  return [first, ...others.filter(column => !isId(column)), ...others.filter(isId)];
}

/** Returns the name and heading of a column. The heading links to the help page if the name needs an explanation. */
function labelColumn(list: List, column: string) {
  const name = toHeading(list.name === 'retirements' && column === 'created_at' ? 'retired' : column);
  return { name, heading: renderTermLabel(column, name) };
}

/** Renders a cell of a list. Names and ids link to their detail page. */
function renderListCell(
  list: List,
  row: Row,
  column: string,
  { now, at }: Pick<ConsoleRequest, 'now' | 'at'>,
): Html {
  const value = row[column];
  const content =
    list.name === 'retirements' && column === 'beneficiary' && !value
      ? html`<span class="quiet">unclaimed</span>`
      : renderCell(column, value, now);
  if (list.hasDetailPages && column === findNameColumn(list)) {
    const path = `/${list.name}/${encodeURIComponent(String(row[list.idColumn]))}`;
    return html`<a href="${withAsOf(path, at)}">${content}</a>`;
  }
  const idColumn = ID_COLUMNS[column] ?? column;
  const id = row[idColumn];
  return renderDetailLink(idColumn, id, value === null ? renderCell(idColumn, id, now) : content, at);
}
