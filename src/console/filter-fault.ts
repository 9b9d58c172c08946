import { findOrganization } from '../query/names.js';
import type { FilterFault } from '../query/lists/parse-request.js';
import type { Reader } from '../store/contract/reader.js';
import { cleanText } from '../text/clean-text.js';
import type { PageFault } from './page.js';

/** Returns a sentence about an invalid filter value, with the values that the visitor may have meant. */
export function describeFilterFault(fault: FilterFault): string {
  if (!('candidates' in fault) || fault.candidates.length === 0) return cleanText(fault.fault);
  const { isMissing, candidates } = fault;
  return `${fault.fault} ${isMissing ? 'Similar' : 'Matches'}: ${candidates.join('; ')}.`;
}

/**
 * Finds the organization in the URL parameter `organization_id`, which contains an id, a name, or a part of one. Returns the id, or
 * null if the parameter is missing. Returns an error message for the visitor (a fault) if no organization or more than one matches.
 */
export async function findChosenOrganization(
  reader: Reader,
  query: URLSearchParams,
): Promise<string | PageFault | null> {
  const text = query.get('organization_id') || null;
  if (text === null) return null;
  const result = await findOrganization(reader, text);
  return 'id' in result ? result.id : { fault: describeFilterFault(result) };
}
