import { findIdsByStart } from '../../query/lists/find-by-id.js';
import type { List } from '../../query/lists/list-type.js';
import type { ConsoleRequest, PageNotFound, PageRedirect } from '../page.js';
import { withQuery } from '../components/as-of.js';

/**
 * Redirects to the only row whose id starts with the id in the URL, such as `3f2a`, or to the list of all such rows. Returns
 * "not found" if there is none.
 */
export async function redirectByIdPrefix(
  list: List,
  { reader, params, query }: ConsoleRequest,
  /** Ids to match besides those of the list's rows. */
  otherIds: readonly string[] = [],
): Promise<PageRedirect | PageNotFound> {
  const { name, idColumn, entry } = list;
  const prefix = (params['id'] ?? '').replace(/…$/, '');
  if (entry === null || prefix === '') return describeNotFound(list, params['id']);
  const rowIds = await findIdsByStart(reader, entry, prefix, { from: `${entry.table}_history` });
  const [id, otherId] = new Set([...rowIds, ...otherIds.filter(each => each.startsWith(prefix))]);
  if (id === undefined) return describeNotFound(list, params['id']);
  if (otherId === undefined) return { location: withQuery(`/${name}/${encodeURIComponent(id)}`, query, {}) };
  return { location: withQuery(`/${name}`, query, { [idColumn]: prefix }) };
}

/** Returns the "not found" response for an id of a list. */
export function describeNotFound({ singular }: List, id: string | undefined): PageNotFound {
  return { missing: `No ${singular} with the id “${id ?? ''}”.` };
}
