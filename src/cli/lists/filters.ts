import { ask } from '../../query/lists/ask.js';
import type { Filter } from '../../query/lists/filter.js';
import type { List, ListRequest } from '../../query/lists/list.js';
import type { Context } from '../context.js';
import { usageFault } from '../exit.js';
import { nameFault } from '../find/choose.js';
import { adviceOn } from '../find/in-mirror.js';
import { flag, ORGANIZATION, type Taken, text as valued } from '../options.js';

export type FilterOption = Taken<string | boolean | undefined>;

/** The filters of a list as options of a command. Their values are read by `askOf`. */
export function filterOptions({ filters }: List): Record<string, FilterOption> {
  const options = Object.values(filters).flatMap(filter =>
    filter.option === null ? [] : [[filter.option, optionOf(filter.option, filter)] as const],
  );
  return Object.fromEntries(options);
}

const PLACEHOLDERS: Readonly<Record<string, string>> = { installation: 'name', year: 'year' };

function optionOf(option: string, filter: Filter): FilterOption {
  const { fits, says } = filter;
  if (fits === 'organization') return ORGANIZATION;
  if (fits === 'flag') return flag(says);
  if (fits === 'choice') return { ...valued(option, says), choices: filter.choices };
  return valued(fits === 'word' ? option : (PLACEHOLDERS[fits] ?? 'text'), says);
}

interface Given {
  /** What was typed, by the names of options. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly at: string | null;
}

/** What the options of a command ask of a list. */
export async function askOf(context: Context, list: List, { given, at }: Given): Promise<ListRequest> {
  const of = (name: string) => {
    const option = list.filters[name]?.option ?? null;
    const value = option === null ? null : given[option];
    return value === true ? 'yes' : typeof value === 'string' ? value : null;
  };
  const asked = await ask(await context.reader(), list, { of, at, now: context.io.now() });
  if (!('fault' in asked)) return asked;
  if (!('isMissing' in asked)) throw usageFault(asked.fault);
  throw nameFault(asked, adviceOn(asked.what));
}
