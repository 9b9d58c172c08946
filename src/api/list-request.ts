/** Turns the parameters of a URL into the request of a list, with the filters of the list as parameters. */
import type { StoredToken } from '../inbox/token.js';
import type { ListRequest, List } from '../query/lists/list-type.js';
import { parseListRequest, type FilterFault } from '../query/lists/parse-request.js';
import type { Reader } from '../store/contract/reader.js';
import { cleanText } from '../text/clean-text.js';
import { chooseOrganization } from './access.js';
import { type Parameters, parseInstant } from './parameters.js';
import { createBadRequest } from './problem.js';
import { hasOrganization } from './token-rules.js';

/** Returns the names of the parameters that select rows of a list. */
export function listSelectors(list: List): readonly string[] {
  return [...Object.keys(list.filters), ...(list.past === null ? [] : ['as_of'])];
}

/** Parses the organization, filters and `as_of` in the URL parameters of a list. Throws a 400 problem if a value is invalid. */
export async function parseSelection(
  reader: Reader,
  list: List,
  {
    parameters,
    token,
    now,
  }: { readonly parameters: Parameters; readonly token: StoredToken; readonly now: number },
): Promise<ListRequest> {
  const organizationId = hasOrganization(list) ? chooseOrganization(token, parameters) : null;
  const getText = (name: string) => (name === 'organization_id' ? organizationId : parameters.get(name));
  const at = list.past === null ? null : parseInstant(parameters, 'as_of', now);
  const request = await parseListRequest(reader, list, { getText, at, now });
  if ('fault' in request) throw createBadRequest(describeFilterFault(request));
  return request;
}

/** Returns the error message for an invalid filter value, with the values that the client may have meant. */
function describeFilterFault(fault: FilterFault): string {
  if (!('candidates' in fault) || fault.candidates.length === 0) return cleanText(fault.fault);
  const { isMissing, candidates } = fault;
  return cleanText(`${fault.fault} ${isMissing ? 'Similar' : 'Matches'}: ${candidates.join('; ')}.`);
}
