import { ask } from '../../query/lists/ask.js';
import type { Filter } from '../../query/lists/filter.js';
import type { List, ListRequest } from '../../query/lists/list.js';
import type { CommandContext } from '../context.js';
import { createUsageError } from '../exit.js';
import { createNameError } from '../find/name-error.js';
import { describeListCommand } from '../find/find-rows.js';
import { defineFlag, ORGANIZATION_OPTION, type Parameter, defineText } from '../options.js';

export type FilterOption = Parameter<string | boolean | undefined>;

/** Returns the filters of a list as options of a command. `toListRequest` parses their values. */
export function createFilterOptions({ filters }: List): Record<string, FilterOption> {
  const options = Object.values(filters).flatMap(filter =>
    filter.option === null ? [] : [[filter.option, createFilterOption(filter.option, filter)] as const],
  );
  return Object.fromEntries(options);
}

const PLACEHOLDERS: Readonly<Record<string, string>> = { installation: 'name', year: 'year' };

function createFilterOption(name: string, filter: Filter): FilterOption {
  const { fits, says: description } = filter;
  if (fits === 'organization') return ORGANIZATION_OPTION;
  if (fits === 'flag') return defineFlag(description);
  if (fits === 'choice') return { ...defineText(name, description), choices: filter.choices };
  return defineText(fits === 'word' ? name : (PLACEHOLDERS[fits] ?? 'text'), description);
}

interface FilterArguments {
  /** The command line's values by option name. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly at: string | null;
}

/** Turns the filters of a command line into a request for the list; throws for a value that no filter accepts. */
export async function toListRequest(
  context: CommandContext,
  list: List,
  { given, at }: FilterArguments,
): Promise<ListRequest> {
  const of = (name: string) => {
    const option = list.filters[name]?.option ?? null;
    const value = option === null ? null : given[option];
    return value === true ? 'yes' : typeof value === 'string' ? value : null;
  };
  const asked = await ask(await context.openReader(), list, { of, at, now: context.io.now() });
  if (!('fault' in asked)) return asked;
  if (!('isMissing' in asked)) throw createUsageError(asked.fault);
  throw createNameError(asked, describeListCommand(asked.what));
}
