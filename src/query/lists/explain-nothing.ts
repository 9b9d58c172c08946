import type { Reader } from '../../store/contract/reader.js';
import { cleanText, truncateName } from '../../text/clean-text.js';
import { findSimilar } from '../../text/edit-distance.js';
import { plain, sql, stoodAt, table } from '../sql.js';
import type { ChosenFilter, ListRequest } from './list.js';
import { hasRows } from './read.js';

/** Explains an empty list: names each filter that no row fits even alone, and the texts that are near. */
export async function explainNothing(reader: Reader, request: ListRequest): Promise<string[]> {
  const sentences: string[] = [];
  for (const chosen of request.filters) {
    const sentence = describe(request, chosen);
    if (sentence === null) continue;
    if (await hasRows(reader, { ...request, where: [chosen.condition] })) continue;
    const near = await readNear(reader, request, chosen);
    sentences.push(near.length === 0 ? sentence : `${sentence} Did you mean ${near.map(quoted).join(', ')}?`);
  }
  return sentences;
}

/** Null for filters that say themselves what they take. */
function describe({ list }: ListRequest, { filter, text }: ChosenFilter): string | null {
  const { kind, column, option } = filter;
  if (kind === 'part' || kind === 'project')
    return `No ${list.singular} has ${quoted(text)} in its ${String(option)}.`;
  if (kind === 'word') return `No ${list.singular} has the ${String(option)} ${quoted(text)}.`;
  if (kind !== 'id' && kind !== 'number') return null;
  if (column === list.idColumn) return `There is no ${list.singular} ${quoted(text)}.`;
  return `No ${list.singular} has the ${column.replace(/_id$/, '')} ${quoted(text)}.`;
}

function quoted(text: string): string {
  return `"${truncateName(cleanText(text))}"`;
}

const MOST_TEXTS = 5_000;
const NAMES: Readonly<Record<string, string>> = { project_id: 'project_name' };

async function readNear(reader: Reader, { list, at }: ListRequest, { filter, text }: ChosenFilter) {
  if (filter.kind !== 'part' && filter.kind !== 'project') return [];
  const column = plain(NAMES[filter.column] ?? filter.column);
  const rows = at === null ? table(list.from) : sql`${table(list.from)} WHERE ${stoodAt(at)}`;
  const found = await reader.all(sql<{ text: string | null }>`SELECT DISTINCT text
    FROM (SELECT ${column} AS text FROM ${rows}) AS named LIMIT ${MOST_TEXTS}`);
  return findSimilar(
    text,
    found.flatMap(row => row.text ?? []),
    each => [each],
  );
}
