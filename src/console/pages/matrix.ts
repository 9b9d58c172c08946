import type { Available } from '../../query/available.js';
import { plainTonnes, tonnesOf, typeName } from '../../text/tonnes.js';
import { withThousands } from '../../text/thousands.js';
import { microOf, textIn } from '../components/cell.js';
import { html, type Html } from '../components/html.js';
import { counted } from '../../text/counted.js';
import { tonnes } from '../components/words.js';

type Row = Available['rows'][number];

interface Line {
  readonly projectId: string | null;
  readonly name: string;
  readonly micro: bigint;
  readonly cells: ReadonlyMap<string, bigint>;
}

const MOST_PROJECTS = 12;
const MOST_VINTAGES = 8;
const HEATS = 4;

/** What is available by project and vintage, each type for itself: the largest, what the others add up to, and the sum. */
export function matrix(rows: readonly Row[], isAll: boolean): Html {
  const types = [...groupBy(rows, row => textIn(row, 'type'))].toSorted(
    ([, one], [, other]) => Number(sum(other) - sum(one)) || other.length - one.length,
  );
  const vintages = largest(rows, row => textIn(row, 'vintage') ?? '', MOST_VINTAGES, isAll).toSorted();
  const hasMore = rows.some(row => !vintages.includes(textIn(row, 'vintage') ?? ''));
  const columns = hasMore ? [...vintages, OTHERS] : vintages;
  const kept = largest(rows, row => `${textIn(row, 'type')} ${keyOf(row)}`, MOST_PROJECTS, isAll);
  const most = Math.max(1, ...types.flatMap(([, of]) => linesOf(of, columns).flatMap(peaks)));
  return html`<div class="wide" tabindex="0" role="region" aria-label="Available by project and vintage"><table class="matrix">
<caption>Available by project and vintage, in whole tonnes</caption>
<thead><tr><th scope="col">Project</th>${columns.map(name => html`<th scope="col" class="number">${name === OTHERS ? 'others' : name || 'none'}</th>`)}<th scope="col" class="number">Sum, t</th></tr></thead>
${types.map(([type, of]) => body(type, of, columns, kept, most))}
</table></div>`;
}

const OTHERS = '\u{1}';

function body(
  type: string | null,
  rows: readonly Row[],
  columns: readonly string[],
  kept: readonly string[],
  most: number,
): Html {
  const isKept = (row: Row) => kept.includes(`${textIn(row, 'type')} ${keyOf(row)}`);
  const lines = linesOf(rows.filter(isKept), columns);
  const rest = rows.filter(row => !isKept(row));
  const others = groupBy(rest, keyOf).size;
  const all = groupBy(rows, keyOf).size;
  return html`<tbody>${lines.map(each => lineOf(each, type, columns, most))}${
    others > 0 && total(`${counted(others, 'other project')}, ${typeName(type)}`, rest, columns, false)
  }${total(`${counted(all, 'project')}, ${typeName(type)}`, rows, columns, true)}</tbody>`;
}

function lineOf(
  { projectId, name, micro, cells }: Line,
  type: string | null,
  columns: readonly string[],
  most: number,
): Html {
  const href = (vintage: string | null) => {
    const query = new URLSearchParams();
    if (projectId !== null) query.set('project_id', projectId);
    if (vintage !== null && vintage !== '' && vintage !== OTHERS) query.set('vintage', vintage);
    if (type !== null) query.set('type', type);
    return `/warehouse?${query.toString()}`;
  };
  return html`<tr><th scope="row" title="${name}">${projectId === null ? name : html`<a href="/projects/${encodeURIComponent(projectId)}">${name}</a>`}</th>${columns.map(
    vintage => {
      const value = cells.get(vintage);
      if (value === undefined) return html`<td class="number none">–</td>`;
      const heat = Math.ceil((HEATS * Number(value)) / most);
      return html`<td class="number heat${heat}" title="${tonnesOf(value)} t"><a href="${href(vintage)}">${whole(value)}</a></td>`;
    },
  )}<td class="number" title="${tonnesOf(micro)} t">${whole(micro)}</td></tr>`;
}

function total(name: string, rows: readonly Row[], columns: readonly string[], isSum: boolean): Html {
  const cells = cellsOf(rows, columns);
  return html`<tr${isSum && html` class="sum"`}><th scope="row">${name}</th>${columns.map(
    column => html`<td class="number">${cells.has(column) ? whole(cells.get(column) ?? 0n) : '–'}</td>`,
  )}<td class="number">${tonnes(tonnesOf(sum(rows)))}</td></tr>`;
}

function linesOf(rows: readonly Row[], columns: readonly string[]): Line[] {
  return [...groupBy(rows, keyOf).values()]
    .map(of => ({
      projectId: textIn(of[0] ?? {}, 'project_id'),
      name: textIn(of[0] ?? {}, 'project_name') ?? textIn(of[0] ?? {}, 'project_id') ?? 'of no project',
      micro: sum(of),
      cells: cellsOf(of, columns),
    }))
    .toSorted((one, other) => Number(other.micro - one.micro));
}

function cellsOf(rows: readonly Row[], columns: readonly string[]): Map<string, bigint> {
  const cells = new Map<string, bigint>();
  for (const row of rows) {
    const vintage = textIn(row, 'vintage') ?? '';
    const column = columns.includes(vintage) ? vintage : OTHERS;
    cells.set(column, (cells.get(column) ?? 0n) + microOf(row));
  }
  return cells;
}

function peaks({ cells }: Line): number[] {
  return [...cells.values()].map(Number);
}

/** The names with the most tonnes. */
function largest(rows: readonly Row[], nameOf: (row: Row) => string, most: number, isAll: boolean): string[] {
  return [...groupBy(rows, nameOf)]
    .map(([name, of]) => ({ name, micro: sum(of) }))
    .toSorted((one, other) => Number(other.micro - one.micro))
    .slice(0, isAll ? Infinity : most)
    .map(({ name }) => name);
}

function keyOf(row: Row): string {
  return JSON.stringify([textIn(row, 'project_id'), textIn(row, 'project_name')]);
}

function sum(rows: readonly Row[]): bigint {
  return rows.reduce((all, row) => all + microOf(row), 0n);
}

function whole(micro: bigint): string {
  return withThousands(plainTonnes(micro).split('.')[0] ?? '');
}

function groupBy<Of, Key>(rows: readonly Of[], keyIn: (row: Of) => Key): Map<Key, Of[]> {
  const groups = new Map<Key, Of[]>();
  for (const row of rows) {
    const group = groups.get(keyIn(row));
    if (group === undefined) groups.set(keyIn(row), [row]);
    else group.push(row);
  }
  return groups;
}
