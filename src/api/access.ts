/** Decides what the holder of a token may read. Everything that a token does not name is refused. */
import type { StoredToken, TokenScope } from '../inbox/token.js';
import type { AnswerNotes } from '../query/answer/answer.js';
import { REJECTED_WEBHOOKS } from '../query/lists/list-definitions.js';
import type { List } from '../query/lists/list-type.js';
import type { Parameters } from './parameters.js';
import { ApiProblem, createBadRequest } from './problem.js';
import { hasOrganization } from './token-rules.js';

/** Throws a 403 problem unless the token has the scope. */
export function assertHasScope({ name, scopes, organizationIds }: StoredToken, scope: TokenScope): void {
  if (!scopes.includes(scope)) throw createForbidden(`The token ${name} does not have the scope ${scope}.`);
  if (scope === 'status' && organizationIds !== null)
    throw createForbidden(`The token ${name} may not read the state of all organizations.`);
}

/** Throws a 403 problem unless the token may read the list. */
export function assertMayReadList(token: StoredToken, list: List): void {
  assertHasScope(token, 'lists');
  if (!token.lists.includes(list.name))
    throw createForbidden(`The token ${token.name} may not read the list ${list.name}.`);
  if (token.organizationIds !== null && !hasOrganization(list))
    throw createForbidden(`The token ${token.name} may not read a list of all organizations.`);
}

/**
 * Returns the organization whose rows a request may read. Null means all organizations. A token that is limited to some
 * organizations must send a whole id, because a search by name would reveal other organizations.
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

/**
 * Removes caveats about rows that the token may not read. `no_match` reveals whether other organizations have matching rows.
 * `newer_rejected` is about the list of rejected webhooks.
 */
export function removeForbiddenCaveats<Notes extends Pick<AnswerNotes, 'caveats'>>(
  notes: Notes,
  { organizationIds, lists }: StoredToken,
): Notes {
  const hidden: string[] = [];
  if (organizationIds !== null) hidden.push('no_match');
  if (!lists.includes(REJECTED_WEBHOOKS.name)) hidden.push('newer_rejected');
  return { ...notes, caveats: notes.caveats.filter(({ code }) => !hidden.includes(code)) };
}

function createForbidden(detail: string): ApiProblem {
  return new ApiProblem(403, detail);
}
