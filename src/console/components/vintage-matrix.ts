import type { Value } from '../../store/contract/tables.js';
import { formatCount } from '../../text/numbers.js';
import { formatCreditType, formatTonnes, formatWholeTonnes, WHOLE_TONNES } from '../../text/tonnes.js';
import { withAsOf } from './as-of.js';
import { renderDetailLink, getAmountMicro, sumAmountsBy, getText } from './table-cell.js';
import { describeExcludedRows } from '../../query/answer/describe-totals.js';
import { html, type Html, type HtmlContent } from './html.js';
import { ALL, renderShowAllLink } from './table.js';

type MatrixRow = Readonly<Record<string, Value>>;

/** The rows of one project and credit type. */
interface ProjectGroup {
  readonly type: string | null;
  readonly firstRow: MatrixRow;
  readonly rows: readonly MatrixRow[];
  readonly micro: bigint;
}

interface MatrixOptions {
  /** URL parameters of Now, which may show everything. */
  readonly query?: URLSearchParams | null;
  /** Whether all rows belong to one project, which is then not named. */
  readonly isOneProject?: boolean;
  /** The organization that all rows belong to. The links of amounts then keep it as a filter. */
  readonly organizationId?: string | null;
  readonly at?: string | null;
}

const MAX_PROJECTS = 12;
const MAX_VINTAGES = 8;
/** Characters that fit next to the names at 1280 pixels, and the margin of a column. */
const MAX_WIDTH = 64;
const COLUMN_MARGIN = 0.7;
/** Shades of a cell, by its share of the largest one. */
const HEATS = 4;
/** The column of all vintages that have no column of their own. */
const OTHERS = 'others';
const EMPTY_CELL = html`<td></td>`;

/**
 * Renders a table of credit amounts by project and vintage. Only the projects with the largest amounts have a row of their own. The
 * other projects share one row for each credit type. With the URL parameter `all`, or if all rows belong to one project, every
 * project has its own row.
 */
export function renderVintageMatrix(
  captionPrefix: string,
  rows: readonly MatrixRow[],
  { query = null, isOneProject = false, organizationId = null, at = null }: MatrixOptions,
): Html {
  const showsAll = isOneProject || query?.has(ALL) === true;
  const groups = groupByProject(rows);
  const shownGroups = new Set(showsAll ? groups : groups.slice(0, MAX_PROJECTS));
  const { columns, fitsScreen } = chooseVintages(rows, showsAll);
  const largest = findLargestCell([...shownGroups], columns);

  const renderType = (type: string | null) => {
    const ofType = groups.filter(group => group.type === type);
    const shown = ofType.filter(group => shownGroups.has(group));
    const others = ofType.filter(group => !shownGroups.has(group));
    const typeLabel = `${formatCreditType(type)}, ${formatCount(ofType.length, 'project')}`;
    const othersLabel = formatCount(others.length, 'other project');
    const othersLink = query === null ? othersLabel : renderShowAllLink(query, othersLabel);
    return html`<tbody>${!isOneProject && renderSumRow(typeLabel, ofType, columns, 'sum')}${shown.map(group =>
      renderProjectRow(group, { columns, largest, isOneProject, organizationId, at }),
    )}${others.length > 0 && renderSumRow(othersLink, others, columns, 'others')}</tbody>`;
  };

  const types = [...new Set(groups.map(({ type }) => type))];
  const caption = `${captionPrefix} by ${isOneProject ? '' : 'project and '}vintage, ${WHOLE_TONNES}${describeExcludedRows(rows)}`;
  return html`<div class="wide" tabindex="0" role="region" aria-label="${caption}"><table class="${fitsScreen ? 'matrix' : 'matrix blocks'}">
<caption>${caption}</caption>
<thead><tr><th scope="col">${isOneProject ? 'Type' : 'Project'}</th>${columns.map(vintage => html`<th scope="col" class="number">${toColumnLabel(vintage)}</th>`)}<th scope="col" class="number">Total</th></tr></thead>
${types.map(renderType)}
</table></div>`;
}

/** Groups rows by credit type and project. The group with the largest amount comes first. */
function groupByProject(rows: readonly MatrixRow[]): ProjectGroup[] {
  const groups = new Map<string, MatrixRow[]>();
  for (const row of rows) {
    const key = JSON.stringify([row['type'], row['project_id'] ?? [row['project_name']]]);
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push(row);
  }
  return [...groups.values()]
    .map(group => {
      const [firstRow = {}] = group;
      return { type: getText(firstRow, 'type'), firstRow, rows: group, micro: sumAmounts(group) };
    })
    .toSorted((one, other) => Number(other.micro - one.micro));
}

/**
 * Chooses the vintage columns of a table. If `showsAll` is true, returns all vintages. Otherwise returns the vintages with the
 * largest amounts, as many as fit the screen, and then `OTHERS` if vintages are left over. Also returns whether the returned
 * columns fit the screen.
 */
function chooseVintages(rows: readonly MatrixRow[], showsAll: boolean) {
  const vintages = [...sumAmountsBy(rows, getVintage)]
    .toSorted(([, one], [, other]) => Number(other - one))
    .map(([vintage]) => vintage);
  const takeColumns = (count: number) => [
    ...vintages.slice(0, count).toSorted(),
    ...(count < vintages.length ? [OTHERS] : []),
  ];
  const canFit = (count: number) =>
    measureWidth([...sumAmountsByColumn(rows, takeColumns(count)), ['Total', sumAmounts(rows)]]) <= MAX_WIDTH;
  const maxCount = showsAll ? vintages.length : Math.min(vintages.length, MAX_VINTAGES);
  const descendingCounts = Array.from({ length: maxCount }, (_, index) => maxCount - index);
  const count = showsAll ? maxCount : (descendingCounts.find(canFit) ?? 1);
  return { columns: takeColumns(count), fitsScreen: canFit(count) };
}

/** Returns the total width in characters of table columns with these headings and totals. */
function measureWidth(totals: readonly (readonly [column: string, total: bigint])[]): number {
  const widths = totals.map(
    ([column, total]) => Math.max(column.length, formatWholeTonnes(total).length) + COLUMN_MARGIN,
  );
  return widths.reduce((sum, width) => sum + width, 0);
}

/** Sums amounts by vintage column. Vintages that have no column are added to the column `OTHERS`. */
function sumAmountsByColumn(
  rows: readonly MatrixRow[],
  columns: readonly string[],
): ReadonlyMap<string, bigint> {
  const vintages = new Set(columns);
  return sumAmountsBy(rows, row => (vintages.has(getVintage(row)) ? getVintage(row) : OTHERS));
}

/** Returns the largest amount in any table cell, in millionths of a tonne. */
function findLargestCell(groups: readonly ProjectGroup[], columns: readonly string[]): number {
  const cells = groups.flatMap(({ rows }) => [...sumAmountsByColumn(rows, columns).values()].map(Number));
  // At least 1, because the shade of a cell is the amount divided by this number.
  return Math.max(1, ...cells);
}

interface ProjectRowOptions {
  readonly columns: readonly string[];
  readonly largest: number;
  readonly isOneProject: boolean;
  readonly organizationId: string | null;
  readonly at: string | null;
}

/** Renders the table row of one project. Shades each amount by size and links each amount to the warehouse list. */
function renderProjectRow(
  { type, firstRow, rows }: ProjectGroup,
  { columns, largest, isOneProject, organizationId, at }: ProjectRowOptions,
): Html {
  const projectName = getProjectName(firstRow);
  const name = isOneProject
    ? formatCreditType(type)
    : renderDetailLink('project_id', firstRow['project_id'], html`${projectName}`, null);
  const renderAmount = (micro: bigint, vintage: string) => {
    const heat = Math.ceil((HEATS * Number(micro)) / largest);
    const href = withAsOf(toWarehouseHref(firstRow, vintage, organizationId), at);
    return html`<td class="number heat${heat}" data-label="${toColumnLabel(vintage)}" title="${formatTonnes(micro)} t"><a href="${href}">${formatWholeTonnes(micro)}</a></td>`;
  };
  return html`<tr><th scope="row" title="${projectName}">${name}</th>${renderAmounts(rows, columns, renderAmount)}</tr>`;
}

/** Renders a table row with the total amounts of several projects. `label` names them, for example "12 other projects". */
function renderSumRow(
  label: HtmlContent,
  groups: readonly ProjectGroup[],
  columns: readonly string[],
  className: string,
): Html {
  const rows = groups.flatMap(group => group.rows);
  const renderAmount = (micro: bigint, vintage: string) =>
    html`<td class="number" data-label="${toColumnLabel(vintage)}" title="${formatTonnes(micro)} t">${formatWholeTonnes(micro)}</td>`;
  return html`<tr class="${className}"><th scope="row">${label}</th>${renderAmounts(rows, columns, renderAmount)}</tr>`;
}

/** Renders the amount cells of a table row: the sum of `rows` in each vintage column, then their total. */
function renderAmounts(
  rows: readonly MatrixRow[],
  columns: readonly string[],
  renderAmount: (micro: bigint, vintage: string) => Html,
): Html {
  const sums = sumAmountsByColumn(rows, columns);
  const cells = columns.map(vintage => {
    const micro = sums.get(vintage);
    return micro === undefined ? EMPTY_CELL : renderAmount(micro, vintage);
  });
  const total = sumAmounts(rows);
  return html`${cells}<td class="number" data-label="Total" title="${formatTonnes(total)} t">${formatWholeTonnes(total)}</td>`;
}

/** Returns the vintage of a row, or an empty string if the row has none. */
function getVintage(row: MatrixRow): string {
  return getText(row, 'vintage') ?? '';
}

/** Returns the heading of a vintage column. Returns "none" for an empty vintage. */
function toColumnLabel(vintage: string): string {
  return vintage || 'none';
}

/** Returns the project name of a row, or else the project id or "no project". */
function getProjectName(row: MatrixRow): string {
  return getText(row, 'project_name') ?? getText(row, 'project_id') ?? 'no project';
}

/** Returns the URL of the warehouse list, filtered by the project and type of `row`, by `vintage` and by an organization. */
function toWarehouseHref(row: MatrixRow, vintage: string, organizationId: string | null): string {
  const query = new URLSearchParams();
  const filters = {
    organization_id: organizationId,
    project_id: getText(row, 'project_id'),
    vintage,
    type: getText(row, 'type'),
  };
  for (const [name, value] of Object.entries(filters))
    if (value !== null && value !== '' && value !== OTHERS) query.set(name, value);
  return `/warehouse?${query.toString()}`;
}

/** Returns the total amount of all rows in millionths of a tonne. */
function sumAmounts(rows: readonly MatrixRow[]): bigint {
  return rows.reduce((sum, row) => sum + getAmountMicro(row), 0n);
}
