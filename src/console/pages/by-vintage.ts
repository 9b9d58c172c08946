import { type Availability, readAvailability, type Scope } from '../../query/available.js';
import { knownIn, readKnownAt } from '../../query/history/as-of.js';
import { sumStoodAt } from '../../query/sums.js';
import type { Reader } from '../../store/contract/reader.js';
import type { Value } from '../../store/contract/tables.js';
import { formatSumsByType, formatTonnes, formatCreditType } from '../../text/tonnes.js';
import { withAsOf } from '../components/as-of.js';
import { renderDetailLink, getMicro, sumMicroBy, getText, formatWholeTonnes } from '../components/cell.js';
import { renderGaps, renderFreshnessState } from '../components/freshness.js';
import { html, type Html, type HtmlContent } from '../components/html.js';
import { ALL, renderTable, renderShowAllLink } from '../components/table.js';
import { describeExcludedRows } from '../components/formats.js';
import { formatOmittedCount, formatCount, MAX_SHOWN } from '../../text/numbers.js';

type Row = Readonly<Record<string, Value>>;

interface ProjectLine {
  readonly row: Row;
  readonly rows: readonly Row[];
  readonly micro: bigint;
}

interface MatrixOptions {
  /** URL parameters of Now, which may show everything. */
  readonly query?: URLSearchParams | null;
  /** Whether all rows belong to one project, which is then not named. */
  readonly isOne?: boolean;
  readonly at?: string | null;
}

const MAX_PROJECTS = 12;
const MAX_VINTAGES = 8;
/** Characters that fit next to the names at 1280 pixels, and the margin of a column. */
const MAX_WIDTH = 64;
const MARGINS = 0.7;
const HEATS = 4;
const OTHERS = 'others';
const BLANK = html`<td></td>`;

/** Renders credits by project and vintage, separately per type: the largest projects, the sum of the others, and the total. */
export function renderVintageMatrix(
  what: string,
  rows: readonly Row[],
  { query = null, isOne = false, at = null }: MatrixOptions,
): Html {
  const isAll = isOne || query?.has(ALL) === true;
  const all = groupByProject(rows);
  const shown = new Set(isAll ? all : all.slice(0, MAX_PROJECTS));
  const sums = [...sumMicroBy(rows, getVintage)].toSorted(([, one], [, other]) => Number(other - one));
  const columnsOf = (count: number) => [
    ...sums
      .slice(0, count)
      .map(([name]) => name)
      .toSorted(),
    ...(count < sums.length ? [OTHERS] : []),
  ];
  const fits = (count: number) => {
    const names = new Set(columnsOf(count));
    const totals = sumMicroBy(rows, row => (names.has(getVintage(row)) ? getVintage(row) : OTHERS));
    return measureWidth([...totals, ['Total', sumMicro(rows)]]) <= MAX_WIDTH;
  };
  const maxCount = isAll ? sums.length : Math.min(sums.length, MAX_VINTAGES);
  const descendingCounts = Array.from({ length: maxCount }, (_, index) => maxCount - index);
  const count = isAll ? maxCount : (descendingCounts.find(fits) ?? 1);
  const columns = columnsOf(count);
  const cellsOf = (of: readonly Row[]) =>
    sumMicroBy(of, row => (columns.includes(getVintage(row)) ? getVintage(row) : OTHERS));
  const largest = Math.max(1, ...[...shown].flatMap(each => [...cellsOf(each.rows).values()].map(Number)));

  const across = (name: Html, of: readonly Row[], cell: (value: bigint, vintage: string) => Html) => {
    const cells = cellsOf(of);
    const each = columns.map(vintage => {
      const value = cells.get(vintage);
      return value === undefined ? BLANK : cell(value, vintage);
    });
    return html`${name}${each}<td class="number" data-label="Total" title="${formatTonnes(sumMicro(of))} t">${formatWholeTonnes(sumMicro(of))}</td></tr>`;
  };
  const line = ({ row, rows: of }: ProjectLine) => {
    const name = isOne ? formatCreditType(getText(row, 'type')) : renderProjectLink(row);
    return across(
      html`<tr><th scope="row" title="${getProjectName(row)}">${name}</th>`,
      of,
      (value, vintage) => {
        const heat = Math.ceil((HEATS * Number(value)) / largest);
        return html`<td class="number heat${heat}" data-label="${vintage || 'none'}" title="${formatTonnes(value)} t"><a href="${withAsOf(toWarehouseHref(row, vintage), at)}">${formatWholeTonnes(value)}</a></td>`;
      },
    );
  };
  const total = (name: HtmlContent, lines: readonly ProjectLine[], kind: string) => {
    const of = lines.flatMap(each => each.rows);
    const plain = (value: bigint, vintage: string) =>
      html`<td class="number" data-label="${vintage || 'none'}">${formatWholeTonnes(value)}</td>`;
    return across(html`<tr class="${kind}"><th scope="row">${name}</th>`, of, plain);
  };
  const body = (type: string | null) => {
    const lines = all.filter(each => getType(each) === type);
    const others = lines.filter(each => !shown.has(each));
    const name = `${formatCreditType(type)}, ${formatCount(lines.length, 'project')}`;
    const left = formatCount(others.length, 'other project');
    return html`<tbody>${!isOne && total(name, lines, 'sum')}${lines.filter(each => shown.has(each)).map(line)}${
      others.length > 0 && total(query === null ? left : renderShowAllLink(query, left), others, 'others')
    }</tbody>`;
  };
  const caption = `${what} by ${isOne ? '' : 'project and '}vintage, whole tonnes, rounded down${describeExcludedRows(rows)}`;
  return html`<div class="wide" tabindex="0" role="region" aria-label="${caption}"><table class="${fits(count) ? 'matrix' : 'matrix blocks'}">
<caption>${caption}</caption>
<thead><tr><th scope="col">${isOne ? 'Type' : 'Project'}</th>${columns.map(name => html`<th scope="col" class="number">${name || 'none'}</th>`)}<th scope="col" class="number">Total</th></tr></thead>
${[...new Set(all.map(getType))].map(body)}
</table></div>`;
}

/** Renders what is available of an organization or project, and what is known but not available, with the reason. */
export async function renderAvailability(reader: Reader, scope: Scope): Promise<Html> {
  const { rows, unavailable } = await readAvailability(reader, scope);
  const amounts =
    rows.length === 0
      ? html`<p class="card">Nothing is available now.</p>`
      : renderVintageMatrix('Available', rows, { isOne: scope.projectId != null });
  return html`<div class="stack">${amounts}
${renderUnavailable(unavailable)}</div>`;
}

function renderUnavailable(warehouses: Availability['unavailable']): Html | false {
  if (warehouses.length === 0) return false;
  const sums = warehouses.flatMap(each => each.sums);
  return renderTable(
    `Not available now: ${formatSumsByType(sums)}${describeExcludedRows(sums)}`,
    [
      {
        name: 'Organization',
        cell: ({ organization_id: id, organization_name: name }) =>
          renderDetailLink('organization_id', id, html`${name ?? id}`, null),
      },
      { name: 'State', cell: renderFreshnessState },
      {
        name: 'Amount',
        cell: each => html`${formatSumsByType(each.sums)}${describeExcludedRows(each.sums)}`,
      },
    ],
    warehouses.slice(0, MAX_SHOWN),
    { footer: formatOmittedCount(warehouses.length) },
  );
}

/** Renders the credits of a project at an instant, in warehouses whose list was known then. */
export async function renderProjectStock(reader: Reader, project: string, at: string): Promise<Html> {
  const gaps = await readKnownAt(reader, { resource: 'warehouse', at, organizationId: null });
  const known = new Set(knownIn(gaps));
  const rows = (await sumStoodAt(reader, at)).filter(
    each => each.project_id === project && known.has(each.organization_id ?? ''),
  );
  if (rows.length === 0)
    return html`<p class="card">Not in any warehouse at that time.</p>${renderGaps('warehouse', gaps)}`;
  return html`${renderVintageMatrix('In the warehouses', rows, { isOne: true, at })}${renderGaps('warehouse', gaps)}`;
}

/** Groups rows by type and project, largest first. */
function groupByProject(rows: readonly Row[]): ProjectLine[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = JSON.stringify([row['type'], row['project_id'] ?? [row['project_name']]]);
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push(row);
  }
  return [...groups.values()]
    .map(of => ({ row: of[0] ?? {}, rows: of, micro: sumMicro(of) }))
    .toSorted((one, other) => Number(other.micro - one.micro));
}

function getType(line: ProjectLine | undefined): string | null {
  return getText(line?.row ?? {}, 'type');
}

/** Returns the width of these columns in characters. */
function measureWidth(totals: readonly (readonly [string, bigint])[]): number {
  const widths = totals.map(
    ([name, total]) => Math.max(name.length, formatWholeTonnes(total).length) + MARGINS,
  );
  return widths.reduce((all, width) => all + width, 0);
}

function getVintage(row: Row): string {
  return getText(row, 'vintage') ?? '';
}

function getProjectName(row: Row): string {
  return getText(row, 'project_name') ?? getText(row, 'project_id') ?? 'no project';
}

function renderProjectLink(row: Row): Html {
  return renderDetailLink('project_id', row['project_id'], html`${getProjectName(row)}`, null);
}

function toWarehouseHref(row: Row, vintage: string): string {
  const query = new URLSearchParams();
  const known = { project_id: getText(row, 'project_id'), vintage, type: getText(row, 'type') };
  for (const [name, value] of Object.entries(known))
    if (value !== null && value !== '' && value !== OTHERS) query.set(name, value);
  return `/warehouse?${query.toString()}`;
}

function sumMicro(rows: readonly Row[]): bigint {
  return rows.reduce((all, row) => all + getMicro(row), 0n);
}
