import type { Reader } from '../../store/contract/reader.js';
import { findOwnerColumn } from '../../resources/entry.js';
import { ENTRY_BY_RESOURCE } from '../../resources/resources.js';
import { type Answer, streamOf } from '../answer/answer.js';
import { type CoverageAt, countRowsAt, readOwnCoverageAt, toNotesAt } from './as-of.js';

/** A list of an organization at a past instant. */
interface ResourceAt extends Pick<CoverageAt, 'lastReadAt'> {
  readonly resource: string;
  readonly rows: number;
}

/** Answers what was known of each list of an organization at an instant. */
export async function answerResourcesAt(
  reader: Reader,
  organizationId: string,
  at: string,
): Promise<Answer<ResourceAt>> {
  const lists: CoverageAt[] = [];
  const rows: ResourceAt[] = [];
  for (const [resource, entry] of Object.entries(ENTRY_BY_RESOURCE)) {
    if (findOwnerColumn(entry) === null) continue;
    const list = await readOwnCoverageAt(reader, { organizationId, resource, at });
    lists.push(list);
    const count = await countRowsAt(reader, entry, { organizationId, at });
    rows.push({ resource, rows: count, lastReadAt: list.lastReadAt });
  }
  return { ...toNotesAt(at, lists), rows: streamOf(rows), totals: null, coverage: null };
}
