import { readBeginnings } from '../../query/lists/find.js';
import type { List } from '../../query/lists/list.js';
import type { PageRequest, PageNotFound, PageRedirect } from '../page.js';
import { withQuery } from '../components/as-of.js';

/** Redirects from the beginning of an id to its page, or to the list of all matching rows. `others` are ids that have a page but no row. */
export async function redirectByIdPrefix(
  list: List,
  { reader, params, query }: PageRequest,
  others: readonly string[] = [],
): Promise<PageRedirect | PageNotFound> {
  const { name, named, entry } = list;
  const text = (params['id'] ?? '').replace(/…$/, '');
  if (entry === null || text === '') return reportMissing(list, params['id']);
  const rows = await readBeginnings(reader, entry, text, { from: `${entry.table}_history` });
  const [first, other] = new Set([...rows, ...others.filter(id => id.startsWith(text))]);
  if (first === undefined) return reportMissing(list, params['id']);
  if (other === undefined) return { location: withQuery(`/${name}/${encodeURIComponent(first)}`, query, {}) };
  return { location: withQuery(`/${name}`, query, { [named]: text }) };
}

export function reportMissing({ one }: List, id: string | undefined): PageNotFound {
  return { missing: `No ${one} with the id “${id ?? ''}”.` };
}
