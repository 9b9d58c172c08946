/** Parses the filters of a list. Commands and pages use the same parsers. */
import { sql } from 'kysely';
import type { Reader } from '../../store/contract/reader.js';
import { select, sqlStatement } from '../../store/sql/columns.js';
import { hasColumn } from '../../store/contract/tables.js';
import { parsePastOrFutureRange } from '../../text/time-range.js';
import { describeWrongWord, findSpelling, foldSpelling } from '../../text/spelling.js';
import type { SortOrder } from '../../resources/entry.js';
import { findInstallation, findOrganization, type NameFault } from '../names.js';
import { HIGHEST, startsWith, type Condition } from './condition.js';
import type { Filter } from './filter.js';
import type { ChosenFilter, List, ListRequest } from './list-type.js';
import { relation } from './relation.js';
import { hasRows } from './read-rows.js';

/** The reason why a filter cannot be applied, with values that may have been meant instead. */
export type FilterFault = { readonly fault: string } | NameFault;

interface FilterValues {
  /** Returns the value that a person chose for a filter. Null if there is none. */
  readonly getText: (filter: string) => string | null;
  /** Null for the present. */
  readonly at: string | null;
  readonly now: number;
}

/** Parses the chosen filters of a list. Ignores filters that the list does not have. */
export async function parseListRequest(
  reader: Reader,
  currentList: List,
  { getText, at, now }: FilterValues,
): Promise<ListRequest | FilterFault> {
  const isPast = at !== null && currentList.past !== null;
  const list = isPast ? { ...currentList, ...currentList.past } : currentList;
  const instant = isPast ? at : null;
  const filters: ChosenFilter[] = [];
  for (const [name, filter] of Object.entries(list.filters)) {
    const text = getText(name);
    if (text === null || text === '') continue;
    if (isPast && filter.column !== 'organization_id' && !hasColumn(list.from, filter.column))
      return { fault: `${filter.column} is only known for now. It cannot filter a list as of an instant.` };
    const parsed = await parseChosenFilter({ reader, list, at: instant, now }, filter, text);
    if ('fault' in parsed) return parsed;
    filters.push({ name, filter, ...parsed });
  }
  const order = parseSort(list, getText(SORT));
  if ('fault' in order) return order;
  const where = filters.map(({ condition }) => condition);
  return { list: { ...list, order }, filters, where, at: instant };
}

/** The name of the parameter and option that chooses the order of the rows. */
export const SORT = 'sort';

/** Parses the word for an order, such as `oldest`. Without a word, returns the order of the list. */
function parseSort({ sorts, order }: List, text: string | null): SortOrder | { readonly fault: string } {
  if (text === null || text === '' || sorts.length === 0) return order;
  const names = sorts.map(({ name }) => name);
  const chosen = sorts.find(({ name }) => name === findSpelling(text, names));
  return chosen?.order ?? { fault: describeWrongWord(text, names) };
}

/** Returns the value of a filter in its usual spelling. Null if the filter is not used. */
export function getFilterText({ filters }: Pick<ListRequest, 'filters'>, name: string): string | null {
  return filters.find(each => each.name === name)?.text ?? null;
}

interface FilterContext {
  readonly reader: Reader;
  readonly list: List;
  readonly at: string | null;
  readonly now: number;
}

type ParsedFilter = Omit<ChosenFilter, 'name' | 'filter'>;

const FIRST_INSTANT = '0000-01-01T00:00:00.000Z';
const LAST_INSTANT = '9999-12-31T23:59:59.999Z';
/** Engines limit the length of a pattern. */
const MAX_LENGTH = 10_000;

/**
 * Parses the text that a person entered for a filter. The filter compares a column of the row itself or, in the list of certificates, a
 * column of the retirement.
 */
async function parseChosenFilter(
  context: FilterContext,
  filter: Filter,
  text: string,
): Promise<ParsedFilter | FilterFault> {
  const { column, retirementColumn } = filter;
  if (retirementColumn === undefined) return await parseFilter(context, filter, text);
  const parsed = await parseFilter(context, { ...filter, column: retirementColumn }, text);
  return 'fault' in parsed ? parsed : { ...parsed, condition: { column, retirement: parsed.condition } };
}

/** Parses the text that a person entered for a filter. */
async function parseFilter(
  context: FilterContext,
  filter: Filter,
  text: string,
): Promise<ParsedFilter | FilterFault> {
  if (text.length > MAX_LENGTH)
    return reportUnexpected(`at most ${MAX_LENGTH} characters`, `${text.slice(0, 20)}…`);
  const { column } = filter;
  switch (filter.kind) {
    case 'flag':
      return text === 'yes' ? { text, condition: filter.where } : reportUnexpected('"yes"', text);
    case 'choice': {
      const choice = findSpelling(text, filter.choices);
      if (choice === null) return { fault: describeWrongWord(text, filter.choices) };
      return { text: choice, condition: { column, is: choice } };
    }
    case 'word':
      return await parseWord(context, filter, text);
    case 'years':
      return await parseYears(context, filter, text);
    case 'number':
      return /^\d{1,15}$/.test(text)
        ? { text, condition: { column, is: Number(text) } }
        : reportUnexpected('a number', text);
    case 'year':
    case 'from':
    case 'until':
      return parseDates(context, filter, text);
    case 'id':
      return await parseId(context, column, text);
    case 'organization':
    case 'installation':
      return await parseOwner(context, filter, text);
    case 'substring':
      return { text, condition: { column, holds: text } };
    case 'project':
      return { text, condition: { column, project: text } };
    default:
      return filter satisfies never;
  }
}

/** Parses a year, a first day or a last day into a range of instants. */
function parseDates(
  { now }: FilterContext,
  { kind, column }: Filter,
  text: string,
): ParsedFilter | FilterFault {
  if (kind === 'year' && !/^\d{4}$/.test(text)) return reportUnexpected('a year like 2025', text);
  const period = parsePastOrFutureRange(text, now);
  if ('fault' in period) return period;
  const from = kind === 'until' ? FIRST_INSTANT : period.since;
  const to = kind === 'from' ? LAST_INSTANT : period.until;
  return { text, condition: { column, from, to } };
}

/** Parses an id. If no row has exactly this id, returns a condition for all ids that start with the text. */
async function parseId(
  { reader, list, at }: FilterContext,
  column: string,
  value: string,
): Promise<ParsedFilter> {
  const text = value.replace(/…$/, '');
  const wholeId: Condition = { column, is: text };
  const isWholeId = await hasRows(reader, { list, at, where: [wholeId] });
  return { text, condition: isWholeId ? wholeId : startsWith(column, text) };
}

/**
 * Parses the id or name of an organization or installation. In a list that is not copied from the registry, such as deliveries and syncs,
 * any id that a row of this list has is valid too.
 */
async function parseOwner(
  { reader, list, at }: FilterContext,
  filter: Filter,
  text: string,
): Promise<ParsedFilter | FilterFault> {
  const wholeId: Condition = { column: filter.column, is: text };
  if (list.entry === null && (await hasRows(reader, { list, at, where: [wholeId] })))
    return { text, condition: wholeId };
  const find = filter.kind === 'organization' ? findOrganization : findInstallation;
  const result = await find(reader, text);
  return 'fault' in result
    ? result
    : { text: result.id, condition: { column: filter.column, is: result.id } };
}

/**
 * Parses a word, such as a credit type. The word is valid if it is in `known`, or if the column has it now or had it in the past: a filter
 * by a type whose credits are all sold is no misspelling. For any other word returns a fault that lists the words of the column.
 */
async function parseWord(
  { reader, list }: FilterContext,
  { column, known }: Extract<Filter, { kind: 'word' }>,
  value: string,
): Promise<ParsedFilter | FilterFault> {
  const text = findSpelling(value, known) ?? value;
  const condition: Condition = { column, word: text };
  if (known.includes(text)) return { text, condition };
  const listWithPast = includePast(list, column);
  if (await hasRows(reader, { list: listWithPast, at: null, where: [condition] })) return { text, condition };
  const words = new Map(
    [...known, ...(await readWords(reader, listWithPast, column))].map(word => [foldSpelling(word), word]),
  );
  return words.size > 0 ? { fault: describeWrongWord(value, [...words.values()]) } : { text, condition };
}

/** Parses a year or a range of years. A text of another form is valid only if the column has exactly this value. */
async function parseYears(
  { reader, list }: FilterContext,
  { column, option }: Filter,
  text: string,
): Promise<ParsedFilter | FilterFault> {
  const condition: Condition = { column, is: text };
  if (/^\d{4}$/.test(text)) return { text, condition };
  const range = /^(\d{4})?\.\.(\d{4})?$/.exec(text);
  if (range !== null && text !== '..') {
    const [, from = '0000', to = '9999'] = range;
    return from <= to
      ? { text, condition: { column, from, to: `${to}${HIGHEST}` } }
      : { fault: `The range "${text}" ends before it begins. Write ${to}..${from}.` };
  }
  if (await hasRows(reader, { list: includePast(list, column), at: null, where: [condition] }))
    return { text, condition };
  return reportUnexpected(`a ${option} like 2021, or a range like 2020..2027, 2020.. or ..2027`, text);
}

/** Returns the list with its past rows, if the history has the column. */
function includePast(list: List, column: string): List {
  return list.past === null || !hasColumn(list.past.from, column) ? list : { ...list, from: list.past.from };
}

const MAX_WORDS = 1_000;

/** Reads the distinct values of a column, to suggest them for a misspelled word. */
async function readWords(reader: Reader, { from }: List, column: string): Promise<string[]> {
  const word = sql.ref<string>(column);
  const rows = await reader.all(sqlStatement`SELECT DISTINCT ${select({ word })} FROM ${relation(from)}
    WHERE ${word} IS NOT NULL ORDER BY word LIMIT ${MAX_WORDS}`);
  return rows.map(row => row.word);
}

/** Returns a fault that says what was expected instead of a text. */
function reportUnexpected(description: string, text: string): FilterFault {
  return { fault: `Expected ${description}, got "${text}".` };
}
