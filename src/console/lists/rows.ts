import type { Row } from '../../store/contract/tables.js';
import type { List } from '../../query/lists/list.js';
import { withAt } from '../components/as-of.js';
import { cell, leading } from '../components/cell.js';
import { html, type Html } from '../components/html.js';

/** By the name of the list: the column that names a row to people. It comes first, and leads to its page. */
const NAMES: Readonly<Record<string, string>> = {
  retirements: 'beneficiary',
  certificates: 'retirement_id',
};
/** A name stands for an id. */
const NAMED: Readonly<Record<string, string>> = {
  organization_name: 'organization_id',
  project_name: 'project_id',
};

function nameIn({ name, columns }: List): string {
  return NAMES[name] ?? columns[0] ?? '';
}

/** The columns of a list as a page has them: the name first, ids last, and none whose name stands there. */
export function shownOf(list: List): string[] {
  const first = nameIn(list);
  const said = list.columns.flatMap(column => NAMED[column] ?? []);
  const others = list.columns.filter(column => column !== first && !said.includes(column));
  const isId = (column: string) => /(^|_)id$/.test(column);
  return [first, ...others.filter(column => !isId(column)), ...others.filter(isId)];
}

interface When {
  readonly now: number;
  readonly at: string | null;
}

/** A cell of a row, which leads to what it names. */
export function contentOf(list: List, row: Row, column: string, { now, at }: When): Html {
  const value = row[column];
  const content =
    list.name === 'retirements' && column === 'beneficiary' && !value
      ? html`<span class="quiet">unclaimed</span>`
      : cell(column, value, now);
  if (list.leads && column === nameIn(list)) {
    const path = `/${list.name}/${encodeURIComponent(String(row[list.named]))}`;
    return html`<a href="${withAt(path, at)}">${content}</a>`;
  }
  const id = NAMED[column] ?? column;
  const named = row[id];
  return leading(id, named, value === null ? cell(id, named, now) : content, at);
}
