import { hasColumn } from '../../store/contract/tables.js';
import { type Condition, conditionOf } from './filter.js';
import type { Asked, List } from './list.js';

interface Said {
  /** What is said of a filter, by its name; null where nothing is. */
  readonly of: (filter: string) => string | null;
  readonly at: string | null;
}

/** What is asked of a list in the words of a person, or why it cannot be. What it does not know is left out. */
export function ask(now: List, { of, at }: Said): Asked | { readonly fault: string } {
  const list = at === null || now.past === null ? now : { ...now, ...now.past };
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
  return { list, where, at: list === now ? null : at };
}
