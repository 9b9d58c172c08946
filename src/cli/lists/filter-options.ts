import { parseListRequest } from '../../query/lists/parse-request.js';
import type { Filter } from '../../query/lists/filter.js';
import type { List, ListRequest } from '../../query/lists/list-type.js';
import type { CommandContext } from '../context.js';
import { createUsageError } from '../command-error.js';
import { createNameError, describeListCommand } from '../find-rows.js';
import { defineFlag, ORGANIZATION_OPTION, type CommandParameter, defineText } from '../options.js';

/** A filter of a list as an option of its command. */
export type FilterOption = CommandParameter<string | boolean | undefined>;

/** Creates one command-line option for each filter of a list. */
export function createFilterOptions({ filters }: List): Record<string, FilterOption> {
  const options = Object.values(filters).flatMap(filter =>
    filter.option === null ? [] : [[filter.option, createFilterOption(filter.option, filter)] as const],
  );
  return Object.fromEntries(options);
}

/** The placeholders of options by the kind of filter, where it is not `text`. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  installation: 'name',
  year: 'year',
  years: 'years',
  from: 'date',
  until: 'date',
};

/** Creates the command-line option for one filter of a list. */
function createFilterOption(name: string, filter: Filter): FilterOption {
  const { kind, description } = filter;
  if (kind === 'organization') return ORGANIZATION_OPTION;
  if (kind === 'flag') return defineFlag(description);
  if (kind === 'choice') return { ...defineText(name, description), choices: filter.choices };
  const form = kind === 'until' ? ', given as for --since' : '';
  return defineText(kind === 'word' ? name : (PLACEHOLDERS[kind] ?? 'text'), `${description}${form}`);
}

interface FilterOptionValues {
  /** The raw values of the filter options by option name. */
  readonly filterOptions: Readonly<Record<string, unknown>>;
  /** Null for the present. */
  readonly instant: string | null;
}

/** Converts filter options from the command line to the request for a list. Throws if a value is invalid. */
export async function toListRequest(
  context: CommandContext,
  list: List,
  { filterOptions, instant }: FilterOptionValues,
): Promise<ListRequest> {
  const getFilterText = (filterName: string) => {
    const option = list.filters[filterName]?.option ?? null;
    const value = option === null ? null : filterOptions[option];
    return value === true ? 'yes' : typeof value === 'string' ? value : null;
  };
  const request = await parseListRequest(await context.openReader(), list, {
    getText: getFilterText,
    at: instant,
    now: context.io.now(),
  });
  if (!('fault' in request)) return request;
  if (!('isMissing' in request)) throw createUsageError(request.fault);
  throw createNameError(request, describeListCommand(request.what));
}
