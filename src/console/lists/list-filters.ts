import { getFilterText } from '../../query/lists/parse-request.js';
import type { Filter } from '../../query/lists/filter.js';
import type { List, ListRequest } from '../../query/lists/list.js';
import { readColumnValues } from '../../query/lists/column-values.js';
import { type NamedChoice, readChoices } from '../../query/names.js';
import { AS_OF, withAsOf } from '../components/as-of.js';
import { renderChoice, renderFilterBar } from '../components/filter-bar.js';
import { toLabel } from '../components/column-labels.js';
import { html, type Html } from '../components/html.js';
import type { ConsoleRequest } from '../page.js';

/** Values to choose from, by filter; null if there are too many. */
export type FilterChoices = ReadonlyMap<string, readonly NamedChoice[] | null>;

/** Filters whose values are ids, with the kind of rows that the ids belong to. */
const ID_FILTERS: Readonly<Record<string, Parameters<typeof readChoices>[1]>> = {
  organization_id: 'organizations',
  project_id: 'projects',
  installation_id: 'installations',
};
const COLUMNS_WITH_FEW_VALUES = ['type', 'vintage'];
/** Too large to look up its distinct values for every page. */
const LARGE_LIST = 'retirements';

/** Reads the values that a visitor can choose in each drop-down filter of a list. */
export async function readFilterChoices(list: List, { reader, at }: ConsoleRequest): Promise<FilterChoices> {
  const choices = new Map<string, readonly NamedChoice[] | null>();
  const toChoice = (value: string) => ({ value, says: value.replaceAll('_', ' ') });
  const filters = Object.entries(list.filters);
  const hasFewValues = (name: string, { kind }: Filter) =>
    ID_FILTERS[name] === undefined && kind !== 'choice' && COLUMNS_WITH_FEW_VALUES.includes(name);
  const looked =
    list.name === LARGE_LIST ? [] : filters.filter(([name, filter]) => hasFewValues(name, filter));
  const columns = looked.map(([, { column }]) => column);
  const values = await readColumnValues(reader, list, columns, at);
  for (const [name, filter] of filters) {
    const idKind = ID_FILTERS[name];
    if (idKind !== undefined) choices.set(name, await readChoices(reader, idKind, at));
    else if (filter.kind === 'choice') choices.set(name, filter.choices.map(toChoice));
    else if (values.has(filter.column)) choices.set(name, values.get(filter.column) ?? null);
  }
  return choices;
}

/** Filters that another filter can replace. They are shown only if the URL uses them. */
const ALTERNATIVE_FILTERS: Readonly<Record<string, string>> = {
  project: 'project_id',
  ignored: 'verdict',
  year: 'from',
};

/** Renders the filter form of a list. Returns false if the list has no filters. */
export function renderFilters(
  list: List,
  listRequest: ListRequest,
  { at }: ConsoleRequest,
  choices: FilterChoices,
): Html | false {
  const isReplaced = (name: string) => {
    const replacement = ALTERNATIVE_FILTERS[name] ?? '';
    const isUsed = getFilterText(listRequest, name) !== null;
    return !isUsed && replacement in list.filters && choices.get(replacement) !== null;
  };
  const filters = Object.entries(list.filters).filter(([name]) => !isReplaced(name));
  if (filters.length === 0) return false;
  return renderFilterBar(
    `/${list.name}`,
    filters.map(([name, filter]) => ({
      label: name === 'installation_id' ? 'organization' : toLabel(name),
      input: renderFilterInput(name, filter, choices, getFilterText(listRequest, name)),
    })),
    html`${at !== null && html`<input type="hidden" name="${AS_OF}" value="${at}">`}${listRequest.filters.length > 0 && html`<a href="${withAsOf(`/${list.name}`, at)}">Clear filters</a>`}`,
  );
}

/** Renders the input of a filter: a checkbox, a date, a drop-down list or a text field. */
function renderFilterInput(
  name: string,
  { kind }: Filter,
  choices: FilterChoices,
  value: string | null,
): Html {
  if (kind === 'flag')
    return html`<input type="checkbox" name="${name}" value="yes"${value && html` checked`}>`;
  const isDay = value === null || /^\d{4}-\d{2}-\d{2}$/.test(value);
  if (isDay && (kind === 'from' || kind === 'until'))
    return html`<input type="date" name="${name}" value="${value}">`;
  return renderChoice(name, choices.get(name) ?? null, value);
}
