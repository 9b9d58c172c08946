import { findOrganization } from '../query/find-named.js';
import type { FilterFault } from '../query/lists/ask.js';
import type { Reader } from '../store/contract/reader.js';
import { cleanText } from '../text/clean-text.js';
import type { Fault } from './page.js';

/** A fault of a filter in a sentence, with what is near. */
export function sentenceOf(fault: FilterFault): string {
  if (!('candidates' in fault) || fault.candidates.length === 0) return cleanText(fault.fault);
  const { isMissing, candidates } = fault;
  return `${fault.fault} ${isMissing ? 'Near' : 'It fits'}: ${candidates.join('; ')}.`;
}

/** The id of the organization that an address names; null if it names none. */
export async function findChosenOrganization(
  reader: Reader,
  query: URLSearchParams,
): Promise<string | Fault | null> {
  const text = query.get('organization_id') || null;
  if (text === null) return null;
  const found = await findOrganization(reader, text);
  return 'id' in found ? found.id : { fault: sentenceOf(found) };
}
