import { getFilterText, SORT } from '../../query/lists/parse-request.js';
import type { Filter } from '../../query/lists/filter.js';
import type { List, ListRequest } from '../../query/lists/list-type.js';
import { readColumnValues } from '../../query/lists/column-values.js';
import { type NamedChoice, readChoices } from '../../query/names.js';
import { AS_OF, withAsOf } from '../components/as-of.js';
import { type FilterField, renderChoice, renderFilterBar } from '../components/filter-bar.js';
import { html, type Html } from '../components/html.js';
import type { ConsoleRequest } from '../page.js';

/** Values to choose from, by filter; null if there are too many. */
export type FilterChoices = ReadonlyMap<string, readonly NamedChoice[] | null>;

/**
 * Returns the choices of each drop-down filter of a list. Choices that are read from the rows of the list come only from the chosen
 * organization, if there is one. Fixed choices, and names such as those of projects, do not depend on the organization. The choices
 * of a filter are null if its column has too many values; then the filter is a text field.
 */
export async function readFilterChoices(
  listRequest: ListRequest,
  { reader }: Pick<ConsoleRequest, 'reader'>,
): Promise<FilterChoices> {
  const { list, at } = listRequest;
  const choices = new Map<string, readonly NamedChoice[] | null>();
  const toChoice = (value: string) => ({ value, label: value.replaceAll('_', ' ') });
  const filters = Object.entries(list.filters);
  const columns = filters.flatMap(([, { choicesFrom, column }]) =>
    choicesFrom?.from === 'values' ? column : [],
  );
  const values = await readColumnValues(reader, list, columns, {
    at,
    organizationId: getFilterText(listRequest, 'organization_id'),
  });
  for (const [name, filter] of filters) {
    const { choicesFrom, column } = filter;
    if (filter.kind === 'choice') choices.set(name, filter.choices.map(toChoice));
    else if (choicesFrom?.from === 'names') choices.set(name, await readChoices(reader, choicesFrom.of, at));
    else if (choicesFrom?.from === 'values') choices.set(name, values.get(column) ?? null);
  }
  return choices;
}

/** The page to which a filter form leads, and fields that only this page has. */
interface FilterForm {
  readonly path: string;
  readonly fields: readonly FilterField[];
}

/** Renders the filter form of a list. Returns false if the list has no filters. */
export function renderFilters(
  list: List,
  listRequest: ListRequest,
  { at, query }: ConsoleRequest,
  choices: FilterChoices,
  { path, fields }: FilterForm = { path: `/${list.name}`, fields: [] },
): Html | false {
  // Filters by an id, which the search field finds, and replaced filters are shown only if the URL uses them.
  const isReplaced = ({ replacedBy }: Filter) =>
    replacedBy !== null && replacedBy in list.filters && choices.get(replacedBy) !== null;
  const isOfId = ({ kind, choicesFrom }: Filter) =>
    kind === 'number' || (kind === 'id' && choicesFrom === null);
  const filters = Object.entries(list.filters).filter(
    ([name, filter]) => getFilterText(listRequest, name) !== null || !(isReplaced(filter) || isOfId(filter)),
  );
  if (filters.length === 0 && fields.length === 0) return false;
  const sort = query.get(SORT);
  return renderFilterBar(
    path,
    [
      ...fields,
      ...filters.map(([name, filter]) => ({
        label: filter.label,
        input: renderFilterInput(name, filter, choices, getFilterText(listRequest, name)),
      })),
    ],
    {
      chosenCount: listRequest.filters.length,
      extra: html`${at !== null && html`<input type="hidden" name="${AS_OF}" value="${at}">`}${sort !== null && html`<input type="hidden" name="${SORT}" value="${sort}">`}${listRequest.filters.length > 0 && html`<a href="${withAsOf(path, at)}">Clear filters</a>`}`,
    },
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
