/** Decides what the holder of a token may read. Everything that a token does not name is refused. */
import type { StoredToken, TokenScope } from '../inbox/token.js';
import type { List } from '../query/lists/list.js';
import type { Parameters } from './parameters.js';
import { ApiProblem, createBadRequest } from './problem.js';
import { hasOrganization } from './token-rules.js';

export function assertScope({ name, scopes, organizationIds }: StoredToken, scope: TokenScope): void {
  if (!scopes.includes(scope)) throw createForbidden(`The token ${name} does not have the scope ${scope}.`);
  if (scope === 'status' && organizationIds !== null)
    throw createForbidden(`The token ${name} may not read the state of all organizations.`);
}

export function assertList(token: StoredToken, list: List): void {
  assertScope(token, 'lists');
  if (!token.lists.includes(list.name))
    throw createForbidden(`The token ${token.name} may not read the list ${list.name}.`);
  if (token.organizationIds !== null && !hasOrganization(list))
    throw createForbidden(`The token ${token.name} may not read a list of all organizations.`);
}

/**
 * Returns the value of `organization_id`. A token of some organizations must name one of them by its whole id, because a
 * search by name, and how complete an answer is, would reveal others. Returns null for all organizations.
 */
export function chooseOrganization(token: StoredToken, parameters: Parameters): string | null {
  const chosen = parameters.get('organization_id') || null;
  const { organizationIds: allowed } = token;
  if (allowed === null) return chosen;
  const [only] = allowed;
  if (chosen === null && allowed.length === 1 && only !== undefined) return only;
  if (chosen === null)
    throw createBadRequest(`organization_id: expected one of the organizations of the token ${token.name}.`);
  if (allowed.includes(chosen)) return chosen;
  throw createForbidden(`The token ${token.name} may not read this organization. Send its whole id.`);
}

function createForbidden(detail: string): ApiProblem {
  return new ApiProblem(403, detail);
}
