import type { Reader } from '../../store/contract/reader.js';
import { hasColumn } from '../../store/contract/tables.js';
import { parsePastOrFutureRange } from '../../text/time-range.js';
import { describeWrongWord, findSpelling, foldSpelling } from '../../text/spelling.js';
import { findInstallation, findOrganization, type NameFault } from '../find-named.js';
import { plain, sql, table } from '../sql.js';
import { beginsWith, type Condition, type Filter } from './filter.js';
import type { ChosenFilter, List, ListRequest } from './list.js';
import { hasRows } from './read.js';

/** Why a filter cannot be applied, and what may have been meant instead. */
export type FilterFault = { readonly fault: string } | NameFault;

interface Said {
  /** The value that a person gave for a filter, by its name; null where none was given. */
  readonly of: (filter: string) => string | null;
  readonly at: string | null;
  readonly now: number;
}

/** Reads the filters of a list as a person gave them. Names that the list does not know are left out. */
export async function ask(
  reader: Reader,
  now: List,
  { of, at, now: present }: Said,
): Promise<ListRequest | FilterFault> {
  const list = at === null || now.past === null ? now : { ...now, ...now.past };
  const then = list === now ? null : at;
  const filters: ChosenFilter[] = [];
  for (const [name, filter] of Object.entries(list.filters)) {
    const text = of(name);
    if (text === null || text === '') continue;
    if (list !== now && filter.column !== 'organization_id' && !hasColumn(list.from, filter.column))
      return { fault: `${filter.column} is only known for now. It cannot filter a list as of an instant.` };
    const parsed = await parseFilter({ reader, list, at: then, now: present }, filter, text);
    if ('fault' in parsed) return parsed;
    filters.push({ name, filter, ...parsed });
  }
  return { list, filters, where: filters.map(({ condition }) => condition), at: then };
}

/** The value of a filter in its usual spelling; null where it was not given. */
export function textOf({ filters }: Pick<ListRequest, 'filters'>, name: string): string | null {
  return filters.find(each => each.name === name)?.text ?? null;
}

interface Place {
  readonly reader: Reader;
  readonly list: List;
  readonly at: string | null;
  readonly now: number;
}

type Parsed = Omit<ChosenFilter, 'name' | 'filter'>;

const FIRST = '0000-01-01T00:00:00.000Z';
const LAST = '9999-12-31T23:59:59.999Z';
/** No engine takes a pattern of any length. */
const LONGEST = 10_000;

/** Reads the value of a filter. Commands and pages use it alike. */
async function parseFilter(place: Place, filter: Filter, text: string): Promise<Parsed | FilterFault> {
  if (text.length > LONGEST) return expected(`at most ${LONGEST} characters`, `${text.slice(0, 20)}…`);
  const { column } = filter;
  switch (filter.kind) {
    case 'flag':
      return text === 'yes' ? { text, condition: filter.where } : expected('"yes"', text);
    case 'choice': {
      const choice = findSpelling(text, filter.choices);
      if (choice === null) return { fault: describeWrongWord(text, filter.choices) };
      return { text: choice, condition: { column, is: choice } };
    }
    case 'word':
      return await parseWord(place, filter, text);
    case 'number':
      return /^\d{1,15}$/.test(text)
        ? { text, condition: { column, is: Number(text) } }
        : expected('a number', text);
    case 'year':
    case 'from':
    case 'until':
      return parseDates(place, filter, text);
    case 'id':
      return await parseId(place, column, text);
    case 'organization':
    case 'installation':
      return await parseOwner(place, filter, text);
    case 'part':
      return { text, condition: { column, holds: text } };
    case 'project':
      return { text, condition: { column, project: text } };
    default:
      return filter satisfies never;
  }
}

function parseDates({ now }: Place, { kind, column }: Filter, text: string): Parsed | FilterFault {
  if (kind === 'year' && !/^\d{4}$/.test(text)) return expected('a year like 2025', text);
  const period = parsePastOrFutureRange(text, now);
  if ('fault' in period) return period;
  const from = kind === 'until' ? FIRST : period.since;
  const to = kind === 'from' ? LAST : period.until;
  return { text, condition: { column, from, to } };
}

/** The whole id if there is one, otherwise every id that begins so. */
async function parseId({ reader, list, at }: Place, column: string, given: string): Promise<Parsed> {
  const text = given.replace(/…$/, '');
  const whole: Condition = { column, is: text };
  const isThere = await hasRows(reader, { list, at, where: [whole] });
  return { text, condition: isThere ? whole : beginsWith(column, text) };
}

/** Rows of the inbox and syncs stay after their organization was purged, and may come before it is read. */
async function parseOwner(place: Place, filter: Filter, text: string): Promise<Parsed | FilterFault> {
  const { reader, list, at } = place;
  const exact: Condition = { column: filter.column, is: text };
  if (list.entry === null && (await hasRows(reader, { list, at, where: [exact] })))
    return { text, condition: exact };
  const find = filter.kind === 'organization' ? findOrganization : findInstallation;
  const found = await find(reader, text);
  return 'fault' in found ? found : { text: found.id, condition: { column: filter.column, is: found.id } };
}

/** A word that occurs is an answer, and so is one that occurred: what is sold out is no misspelling. */
async function parseWord(
  { reader, list }: Place,
  { column, known, form }: Extract<Filter, { kind: 'word' }>,
  given: string,
): Promise<Parsed | FilterFault> {
  const text = findSpelling(given, known) ?? given;
  const condition: Condition = { column, word: text };
  if (known.includes(text) || form?.pattern.test(text) === true) return { text, condition };
  const ever = everOf(list, column);
  if (await hasRows(reader, { list: ever, at: null, where: [condition] })) return { text, condition };
  const words = new Map(
    [...known, ...(await readWords(reader, ever, column))].map(word => [foldSpelling(word), word]),
  );
  if (words.size > 0) return { fault: describeWrongWord(given, [...words.values()]) };
  return form === null ? { text, condition } : expected(form.description, given);
}

/** The list with its past rows, if it has them. */
function everOf(list: List, column: string): List {
  return list.past === null || !hasColumn(list.past.from, column) ? list : { ...list, from: list.past.from };
}

const MOST_WORDS = 1_000;

async function readWords({ all }: Reader, { from }: List, column: string): Promise<string[]> {
  const rows = await all(sql<{ word: string }>`SELECT DISTINCT ${plain(column)} AS word FROM ${table(from)}
    WHERE ${plain(column)} IS NOT NULL ORDER BY word LIMIT ${MOST_WORDS}`);
  return rows.map(({ word }) => word);
}

function expected(what: string, text: string): FilterFault {
  return { fault: `Expected ${what}, got "${text}".` };
}
