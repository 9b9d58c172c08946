/** Rules for the lists that tokens may name. */
import type { TokenGrant } from '../inbox/token.js';
import type { List } from '../query/lists/list-type.js';
import { ALL_LISTS, MIRRORED } from '../query/lists/list-definitions.js';

export const LIST_NAMES: readonly string[] = ALL_LISTS.map(({ name }) => name);

/** The lists of a token that names none. Lists of people and lists of the program's own must be named. */
export const DEFAULT_LISTS: readonly string[] = MIRRORED.filter(list => !list.isPersonal).map(
  ({ name }) => name,
);

/** Whether the rows of a list can be restricted to one organization. */
export function hasOrganization({ filters }: Pick<List, 'filters'>): boolean {
  return Object.hasOwn(filters, 'organization_id');
}

/** Returns a sentence that says why a token with these rights must not be created. Returns null if it may be created. */
export function findGrantFault({ scopes, organizationIds, lists }: TokenGrant): string | null {
  if (organizationIds === null) return null;
  const shared = ALL_LISTS.filter(list => lists.includes(list.name) && !hasOrganization(list));
  if (shared.length > 0)
    return `A token of some organizations cannot read ${shared.map(({ name }) => name).join(', ')}: its rows are not divided by organization.`;
  if (scopes.includes('status'))
    return 'A token of some organizations cannot have the scope status, which is about all organizations.';
  return null;
}
