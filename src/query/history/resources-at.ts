import type { Reader } from '../../store/contract/reader.js';
import { findOwnerColumn } from '../../resources/entry.js';
import { ENTRY_BY_RESOURCE } from '../../resources/resources.js';
import { type Answer, type Totals, streamOf } from '../answer/answer.js';
import { MIRRORED } from '../lists/list-definitions.js';
import { readTotals } from '../lists/totals.js';
import {
  type CoverageAt,
  type OrganizationAsOfRequest,
  countRowsAt,
  readOrganizationCoverageAt,
  toNotesAt,
} from './as-of.js';

/** A list of an organization at a past instant. */
interface ResourceAt extends Pick<CoverageAt, 'lastReadAt'> {
  readonly resource: string;
  readonly rows: number;
  /** Null if the rows have no amounts. */
  readonly totals: Totals | null;
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
    const list = await readOrganizationCoverageAt(reader, { organizationId, resource, at });
    lists.push(list);
    const count = await countRowsAt(reader, entry, { organizationId, at });
    const totals = await readTotalsAt(reader, { organizationId, resource, at });
    rows.push({ resource, rows: count, totals, lastReadAt: list.lastReadAt });
  }
  return { ...toNotesAt(at, lists), rows: streamOf(rows), totals: null, coverage: null };
}

/** Adds up the amounts of an organization's rows at an instant. Returns null for a resource whose rows have no amounts. */
async function readTotalsAt(
  reader: Reader,
  { organizationId, resource, at }: OrganizationAsOfRequest,
): Promise<Totals | null> {
  const list = MIRRORED.find(each => each.resource === resource && each.amounts !== 'none');
  if (list === undefined || list.past === null) return null;
  const where = [{ column: 'organization_id', is: organizationId }];
  return await readTotals(reader, { list: { ...list, from: list.past.from }, at, where }, null);
}
