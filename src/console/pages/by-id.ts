import { readBeginnings } from '../../query/lists/find.js';
import type { List } from '../../query/lists/list.js';
import type { Ask, Missing, Redirect } from '../page.js';
import { withQuery } from '../components/as-of.js';

/** Leads from the beginning of an id to the row, or to all rows whose ids begin so; names what is missing. `others` are ids that have a page and no row. */
export async function leadOn(
  list: List,
  { reader, params, query }: Ask,
  others: readonly string[] = [],
): Promise<Redirect | Missing> {
  const { name, named, entry } = list;
  const text = (params['id'] ?? '').replace(/…$/, '');
  if (entry === null || text === '') return missing(list, params['id']);
  const rows = await readBeginnings(reader, entry, text, { from: `${entry.table}_history` });
  const [first, other] = new Set([...rows, ...others.filter(id => id.startsWith(text))]);
  if (first === undefined) return missing(list, params['id']);
  if (other === undefined) return { location: withQuery(`/${name}/${encodeURIComponent(first)}`, query, {}) };
  return { location: withQuery(`/${name}`, query, { [named]: text }) };
}

export function missing({ one }: List, id: string | undefined): Missing {
  return { missing: `No ${one} with the id “${id ?? ''}”.` };
}
