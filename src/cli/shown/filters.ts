import { Option } from 'commander';
import type { Condition } from '../../query/lists.js';
import { CommandFault, EXIT } from '../exit.js';

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
    if (!/^\d{4}$/.test(text)) throw new CommandFault(EXIT.usage, `--year: expected a year, got "${text}".`);
    const next = String(Number(text) + 1).padStart(4, '0');
    return { column, from: `${text}-01-01T00:00:00.000Z`, before: `${next}-01-01T00:00:00.000Z` };
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
