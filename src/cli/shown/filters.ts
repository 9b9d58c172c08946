import { Option } from 'commander';
import type { Condition } from '../../query/lists.js';
import { readYear } from '../instant.js';

/** An option of `list` that leaves only some rows, and what it asks of them. */
export interface Filter {
  readonly name: string;
  readonly option: Option;
  readonly toCondition: (text: string) => Condition;
}

export function stateFilter(column: string, states: readonly string[]): Filter {
  const option = new Option('--state <state>', 'in one state only').choices(states);
  return filter('state', option, text => ({ column, is: text }));
}

export function textFilter(name: string, column: string): Filter {
  const option = new Option(`--${name} <text>`, `only where the ${name} holds this text`);
  return filter(name, option, text => ({ column, holds: text }));
}

export function yearFilter(column: string): Filter {
  return filter('year', new Option('--year <year>', 'of one year only, in UTC'), text => {
    const year = readYear(text);
    return { column, from: `${year}-01-01T00:00:00.000Z`, to: `${year}-12-31T23:59:59.999Z` };
  });
}

/** The registry knows no such filter: it is asked of the mirror. */
function filter(name: string, option: Option, toCondition: Filter['toCondition']): Filter {
  return { name, option: option.conflicts('live'), toCondition };
}

export function conditionsOf(filters: readonly Filter[], options: object): Condition[] {
  return filters.flatMap(({ name, toCondition }) => {
    const value: unknown = Reflect.get(options, name);
    return typeof value === 'string' ? [toCondition(value)] : [];
  });
}
