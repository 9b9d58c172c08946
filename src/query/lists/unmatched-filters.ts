import type { Reader } from '../../store/contract/reader.js';
import { findSimilar } from '../../text/spelling.js';
import type { Caveat } from '../answer/caveat.js';
import { readTexts } from './column-values.js';
import type { ChosenFilter, ListRequest } from './list-type.js';
import { hasRows } from './read-rows.js';

/** A caveat about a filter that no row matches. */
type NoMatch = Extract<Caveat, { readonly code: 'no_match' }>;

/** Explains an empty list: finds each filter that would match no row even if it were the only filter. Also returns similar values. */
export async function findUnmatchedFilters(reader: Reader, request: ListRequest): Promise<NoMatch[]> {
  const caveats: NoMatch[] = [];
  for (const chosen of request.filters) {
    const subject = describeFilter(request, chosen);
    if (subject === null || (await hasRows(reader, { ...request, where: [chosen.condition] }))) continue;
    caveats.push({
      code: 'no_match',
      ...subject,
      value: chosen.text,
      singular: request.list.singular,
      similar: await readSimilar(reader, request, chosen),
    });
  }
  return caveats;
}

/**
 * Returns what a filter is called, and whether it finds a part of a value or a whole one. Null for filters that accept only
 * values that exist.
 */
function describeFilter(
  { list }: ListRequest,
  { filter }: ChosenFilter,
): Pick<NoMatch, 'filter' | 'match'> | null {
  const { kind, column, option } = filter;
  if (kind === 'substring' || kind === 'project') return { filter: String(option), match: 'contains' };
  if (kind === 'word' || kind === 'years') return { filter: String(option), match: 'equals' };
  if (kind !== 'id' && kind !== 'number') return null;
  return { filter: column === list.idColumn ? 'id' : column.replace(/_id$/, ''), match: 'equals' };
}

const MAX_TEXTS = 5_000;
/** Columns of names, by the id column that a filter compares. */
const NAME_COLUMNS: Readonly<Record<string, string>> = { project_id: 'project_name' };

/** Reads existing values that are spelled like the text of a filter. Returns an empty array for filters that compare a whole value. */
async function readSimilar(
  reader: Reader,
  { list, at }: ListRequest,
  { filter, text }: ChosenFilter,
): Promise<string[]> {
  if (filter.kind !== 'substring' && filter.kind !== 'project') return [];
  const { column, retirementColumn } = filter;
  const from =
    retirementColumn === undefined ? list.from : at === null ? 'retirements' : 'retirements_history';
  const compared = retirementColumn ?? column;
  const name = NAME_COLUMNS[compared] ?? compared;
  const texts = await readTexts(reader, from, name, { instant: at, limit: MAX_TEXTS });
  return findSimilar(text, texts, each => [each]);
}
