import { type Availability, readAvailability, type Scope } from '../../query/available.js';
import { knownIn, readKnownAt } from '../../query/history/as-of.js';
import { sumStoodAt } from '../../query/sums.js';
import type { Reader } from '../../store/contract/reader.js';
import type { Value } from '../../store/contract/tables.js';
import { formatSumByType, formatTonnes, creditTypeName } from '../../text/tonnes.js';
import { withAt } from '../components/as-of.js';
import { leading, microOf, sumsBy, textIn, wholeTonnes } from '../components/cell.js';
import { gapsOf, standing } from '../components/freshness.js';
import { html, type Html, type Part } from '../components/html.js';
import { ALL, table, toAll } from '../components/table.js';
import { outOf } from '../components/words.js';
import { formatRest, formatCount, MAX_SHOWN } from '../../text/numbers.js';

type Row = Readonly<Record<string, Value>>;

interface Line {
  readonly row: Row;
  readonly rows: readonly Row[];
  readonly micro: bigint;
}

interface How {
  /** Of the first page, which may ask for all of them. */
  readonly query?: URLSearchParams | null;
  /** Of one that stands above it nothing is said again. */
  readonly isOne?: boolean;
  readonly at?: string | null;
}

const MOST_PROJECTS = 12;
const MOST_VINTAGES = 8;
/** What fits beside the names at 1280 pixels, in characters, and the margins of a column. */
const ROOM = 64;
const MARGINS = 0.7;
const HEATS = 4;
const OTHERS = 'others';
const BLANK = html`<td></td>`;

/** Credits by project and vintage, each type for itself: the largest, what the others add up to, and the sum. */
export function byVintage(
  what: string,
  rows: readonly Row[],
  { query = null, isOne = false, at = null }: How,
): Html {
  const isAll = isOne || query?.has(ALL) === true;
  const all = linesOf(rows);
  const shown = new Set(isAll ? all : all.slice(0, MOST_PROJECTS));
  const sums = [...sumsBy(rows, vintageOf)].toSorted(([, one], [, other]) => Number(other - one));
  const columnsOf = (count: number) => [
    ...sums
      .slice(0, count)
      .map(([name]) => name)
      .toSorted(),
    ...(count < sums.length ? [OTHERS] : []),
  ];
  const fits = (count: number) => {
    const shown = new Set(columnsOf(count));
    const totals = sumsBy(rows, row => (shown.has(vintageOf(row)) ? vintageOf(row) : OTHERS));
    return widthOf([...totals, ['Total', sum(rows)]]) <= ROOM;
  };
  let count = isAll ? sums.length : Math.min(sums.length, MOST_VINTAGES);
  while (!isAll && count > 1 && !fits(count)) count -= 1;
  const columns = columnsOf(count);
  const cellsOf = (of: readonly Row[]) =>
    sumsBy(of, row => (columns.includes(vintageOf(row)) ? vintageOf(row) : OTHERS));
  const most = Math.max(1, ...[...shown].flatMap(each => [...cellsOf(each.rows).values()].map(Number)));

  const across = (name: Html, of: readonly Row[], cell: (value: bigint, vintage: string) => Html) => {
    const cells = cellsOf(of);
    const each = columns.map(vintage => {
      const value = cells.get(vintage);
      return value === undefined ? BLANK : cell(value, vintage);
    });
    return html`${name}${each}<td class="number" data-label="Total" title="${formatTonnes(sum(of))} t">${wholeTonnes(sum(of))}</td></tr>`;
  };
  const line = ({ row, rows: of }: Line) => {
    const name = isOne ? creditTypeName(textIn(row, 'type')) : linked(row);
    return across(html`<tr><th scope="row" title="${nameOf(row)}">${name}</th>`, of, (value, vintage) => {
      const heat = Math.ceil((HEATS * Number(value)) / most);
      return html`<td class="number heat${heat}" data-label="${vintage || 'none'}" title="${formatTonnes(value)} t"><a href="${withAt(hrefOf(row, vintage), at)}">${wholeTonnes(value)}</a></td>`;
    });
  };
  const total = (name: Part, lines: readonly Line[], kind: string) => {
    const of = lines.flatMap(each => each.rows);
    const plain = (value: bigint, vintage: string) =>
      html`<td class="number" data-label="${vintage || 'none'}">${wholeTonnes(value)}</td>`;
    return across(html`<tr class="${kind}"><th scope="row">${name}</th>`, of, plain);
  };
  const body = (type: string | null) => {
    const lines = all.filter(each => typeIn(each) === type);
    const others = lines.filter(each => !shown.has(each));
    const name = `${creditTypeName(type)}, ${formatCount(lines.length, 'project')}`;
    const left = formatCount(others.length, 'other project');
    return html`<tbody>${!isOne && total(name, lines, 'sum')}${lines.filter(each => shown.has(each)).map(line)}${
      others.length > 0 && total(query === null ? left : toAll(query, left), others, 'others')
    }</tbody>`;
  };
  const caption = `${what} by ${isOne ? '' : 'project and '}vintage, whole tonnes, rounded down${outOf(rows)}`;
  return html`<div class="wide" tabindex="0" role="region" aria-label="${caption}"><table class="${fits(count) ? 'matrix' : 'matrix blocks'}">
<caption>${caption}</caption>
<thead><tr><th scope="col">${isOne ? 'Type' : 'Project'}</th>${columns.map(name => html`<th scope="col" class="number">${name || 'none'}</th>`)}<th scope="col" class="number">Total</th></tr></thead>
${[...new Set(all.map(typeIn))].map(body)}
</table></div>`;
}

/** What is available of one organization or one project; and what is known of it and is not, with the reason. */
export async function available(reader: Reader, scope: Scope): Promise<Html> {
  const { rows, unavailable } = await readAvailability(reader, scope);
  const amounts =
    rows.length === 0
      ? html`<p class="card">Nothing is available now.</p>`
      : byVintage('Available', rows, { isOne: scope.projectId != null });
  return html`<div class="stack">${amounts}
${notAvailable(unavailable)}</div>`;
}

function notAvailable(warehouses: Availability['unavailable']): Html | false {
  if (warehouses.length === 0) return false;
  const sums = warehouses.flatMap(each => each.sums);
  return table(
    `Not available now: ${formatSumByType(sums)}${outOf(sums)}`,
    [
      {
        name: 'Organization',
        cell: ({ organization_id: id, organization_name: name }) =>
          leading('organization_id', id, html`${name ?? id}`, null),
      },
      { name: 'State', cell: standing },
      { name: 'Amount', cell: each => html`${formatSumByType(each.sums)}${outOf(each.sums)}` },
    ],
    warehouses.slice(0, MAX_SHOWN),
    { more: formatRest(warehouses.length) },
  );
}

/** What stood of one project at an instant in the warehouses whose list was known then. */
export async function stood(reader: Reader, project: string, at: string): Promise<Html> {
  const gaps = await readKnownAt(reader, { resource: 'warehouse', at, organizationId: null });
  const known = new Set(knownIn(gaps));
  const rows = (await sumStoodAt(reader, at)).filter(
    each => each.project_id === project && known.has(each.organization_id ?? ''),
  );
  if (rows.length === 0)
    return html`<p class="card">Not in any warehouse at that time.</p>${gapsOf('warehouse', gaps)}`;
  return html`${byVintage('In the warehouses', rows, { isOne: true, at })}${gapsOf('warehouse', gaps)}`;
}

/** The largest first. */
function linesOf(rows: readonly Row[]): Line[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = JSON.stringify([row['type'], row['project_id'] ?? [row['project_name']]]);
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push(row);
  }
  return [...groups.values()]
    .map(of => ({ row: of[0] ?? {}, rows: of, micro: sum(of) }))
    .toSorted((one, other) => Number(other.micro - one.micro));
}

function typeIn(line: Line | undefined): string | null {
  return textIn(line?.row ?? {}, 'type');
}

/** How wide columns are side by side, in characters. */
function widthOf(totals: readonly (readonly [string, bigint])[]): number {
  const widths = totals.map(([name, total]) => Math.max(name.length, wholeTonnes(total).length) + MARGINS);
  return widths.reduce((all, width) => all + width, 0);
}

function vintageOf(row: Row): string {
  return textIn(row, 'vintage') ?? '';
}

function nameOf(row: Row): string {
  return textIn(row, 'project_name') ?? textIn(row, 'project_id') ?? 'no project';
}

function linked(row: Row): Html {
  return leading('project_id', row['project_id'], html`${nameOf(row)}`, null);
}

function hrefOf(row: Row, vintage: string): string {
  const query = new URLSearchParams();
  const known = { project_id: textIn(row, 'project_id'), vintage, type: textIn(row, 'type') };
  for (const [name, value] of Object.entries(known))
    if (value !== null && value !== '' && value !== OTHERS) query.set(name, value);
  return `/warehouse?${query.toString()}`;
}

function sum(rows: readonly Row[]): bigint {
  return rows.reduce((all, row) => all + microOf(row), 0n);
}
