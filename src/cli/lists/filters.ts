import { ask } from '../../query/lists/ask.js';
import type { Filter } from '../../query/lists/filter.js';
import type { List, ListRequest } from '../../query/lists/list.js';
import type { CommandContext } from '../context.js';
import { usageFault } from '../exit.js';
import { nameFault } from '../find/choose.js';
import { adviseListing } from '../find/in-mirror.js';
import { flag, ORGANIZATION, type Parameter, text } from '../options.js';

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
  if (fits === 'organization') return ORGANIZATION;
  if (fits === 'flag') return flag(description);
  if (fits === 'choice') return { ...text(name, description), choices: filter.choices };
  return text(fits === 'word' ? name : (PLACEHOLDERS[fits] ?? 'text'), description);
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
  const asked = await ask(await context.reader(), list, { of, at, now: context.io.now() });
  if (!('fault' in asked)) return asked;
  if (!('isMissing' in asked)) throw usageFault(asked.fault);
  throw nameFault(asked, adviseListing(asked.what));
}
