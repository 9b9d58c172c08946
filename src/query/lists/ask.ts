import { hasColumn } from '../../store/contract/tables.js';
import type { Order } from '../../resources/entry.js';
import { type Condition, conditionOf } from './filter.js';
import type { Asked, List } from './list.js';

interface Said {
  /** What is said of a filter, by its name; null where nothing is. */
  readonly of: (filter: string) => string | null;
  readonly at: string | null;
  /** `amount`, or `-amount` for the other way; null for the order of the list. */
  readonly sort?: string | null;
}

/** What is asked of a list in the words of a person, or why it cannot be. What it does not know is left out. */
export function ask(now: List, { of, at, sort = null }: Said): Asked | { readonly fault: string } {
  const list = at === null || now.past === null ? now : { ...now, ...now.past, isIndexed: false };
  const where: Condition[] = [];
  for (const [name, filter] of Object.entries(list.filters)) {
    const text = of(name);
    if (text === null || text === '') continue;
    const condition = conditionOf(filter, text);
    if ('fault' in condition) return condition;
    if (list !== now && filter.column !== 'organization_id' && !hasColumn(list.from, filter.column))
      return { fault: `${filter.column} is of this moment: as of another it cannot be asked for.` };
    where.push(condition);
  }
  return { list, where, at: list === now ? null : at, order: orderOf(list, sort) };
}

function orderOf(list: List, sort: string | null): Order {
  const column = list.columns.find(name => name === sort?.replace(/^-/, '') && isSortable(list, name));
  const order: Order =
    column === undefined ? list.order : [[sortedBy(list, column), sort?.startsWith('-') ? 'desc' : 'asc']];
  const way = order.at(-1)?.[1] ?? 'asc';
  const rest = list.tie.filter(name => !order.some(([ordered]) => ordered === name));
  return [...order, ...rest.map(name => [name, way] as const)];
}

/** Amounts by their size, and not by their first digits. */
export function sortedBy({ from }: List, column: string): string {
  return column === 'amount_exact' && hasColumn(from, 'amount_micro') ? 'amount_micro' : column;
}

/** By what stands in the table itself. */
export function isSortable({ from }: List, column: string): boolean {
  return hasColumn(from, column);
}
