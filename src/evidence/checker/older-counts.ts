import { type CheckedMonth, checkMonths, type NamedLeaves } from './completeness.js';
import { assertFolder } from './fault.js';
import type { EvidenceLines } from './parse-evidence.js';
import { isRowVersion, listLeavesOfKind, readRowVersion, type RowVersion } from './row-versions.js';
import type { HashedLeaf } from './tree.js';

/** A row that was current at the older checkpoint and is not any more. */
export interface EndedRow {
  readonly before: RowVersion;
  /** The version that replaced it; null if the row was removed. */
  readonly after: RowVersion | null;
}

export interface OlderCounts {
  readonly months: readonly CheckedMonth[];
  readonly ended: readonly EndedRow[];
  /** The number of leaves that were erased since. If there are some, months of the older checkpoint may be missing. */
  readonly erasedLeaves: number;
  /** The months, and organizations, whose rows at the older checkpoint cannot be shown, because leaves were erased. */
  readonly unknown: readonly string[];
  /** True if the folder shows no older leaf of the organization that it is about: it had no sealed rows, or was left out. */
  readonly hasNoOrganization: boolean;
}

export interface OlderCountsRequest {
  readonly lines: EvidenceLines;
  readonly leaves: ReadonlyMap<number, HashedLeaf>;
  readonly since: number;
  /** The leaves that the older checkpoint names; null if they are not shown. */
  readonly older: NamedLeaves | null;
  readonly currentRows: readonly RowVersion[];
  readonly isInScope: (month: { readonly organization: string; readonly month: string }) => boolean;
}

/**
 * Counts again what the older checkpoint counted, so that no row can disappear unnoticed: each of its rows is still current, or
 * a later leaf shows how it ended. Only an erasure since may leave months unknown.
 */
export async function checkOlderCounts(request: OlderCountsRequest): Promise<OlderCounts> {
  const { lines, leaves, since, older, currentRows, isInScope } = request;
  const erasedLeaves = countErasedLeaves(leaves, since);
  const unknown: string[] = [];
  const admitUnknown = (what: string) => {
    assertFolder(erasedLeaves > 0, `what the older checkpoint says about ${what} is missing`);
    unknown.push(what);
  };
  if (older === null) {
    admitUnknown('any organization');
    return { months: [], ended: [], erasedLeaves, unknown, hasNoOrganization: false };
  }
  if (lines.header.scope === 'period')
    for (const { place, kind } of older.named)
      if (kind === 'organization' && !leaves.has(place)) admitUnknown(`an organization (leaf ${place})`);
  const changes = listLeavesOfKind(leaves, 'change');
  const rows = listRowsAt(changes, since);
  for (const organization of new Set(rows.map(row => row.organization)))
    if (!older.organizations.has(organization)) admitUnknown(`organization ${organization}`);
  const months = (await checkMonths(older, { ...lines, hidden: [] }, rows)).filter(isInScope);
  for (const { isComplete, list, organization, month, datedBy } of months)
    if (!isComplete) admitUnknown(`${list} of ${organization} in ${month} (dated by the ${datedBy})`);
  const standing = new Set(currentRows.map(({ version }) => version));
  const ended = new Map<number, EndedRow>();
  for (const { shown, isComplete } of months)
    for (const before of isComplete ? shown : [])
      if (!standing.has(before.version)) ended.set(before.version, findEnd(before, changes, since));
  const hasNoOrganization = lines.header.scope === 'organization' && older.organizations.size === 0;
  return { months, ended: [...ended.values()], erasedLeaves, unknown, hasNoOrganization };
}

/** Returns the shown versions that were sealed in the first `since` leaves, and that no leaf of these ended. */
function listRowsAt(changes: readonly HashedLeaf[], since: number): RowVersion[] {
  const before = changes.filter(({ place }) => place < since);
  const ended = new Set(before.map(({ record }) => record.get('ended_version')));
  return before
    .filter(leaf => isRowVersion(leaf) && !ended.has(leaf.record.get('version')))
    .map(readRowVersion);
}

function findEnd(before: RowVersion, changes: readonly HashedLeaf[], since: number): EndedRow {
  const end = changes.find(
    ({ place, record }) => place >= since && record.get('ended_version') === before.version,
  );
  assertFolder(
    end !== undefined,
    `leaf ${before.leaf.place} was current at the older checkpoint, and no leaf shows how it ended`,
  );
  return { before, after: isRowVersion(end) ? readRowVersion(end) : null };
}

function countErasedLeaves(leaves: ReadonlyMap<number, HashedLeaf>, since: number): number {
  let count = 0;
  for (const kind of ['forget', 'purge'])
    for (const { place, record } of listLeavesOfKind(leaves, kind))
      if (place >= since) count += Number(record.get('leaves') ?? 0);
  return count;
}
