import { type CheckedMonth, checkMonths, type NamedLeaves } from './completeness.js';
import { assertFolder } from './fault.js';
import type { EvidenceLines } from './parse-evidence.js';
import { isRowVersion, listLeavesOfKind, readRowVersion, type RowVersion } from './row-versions.js';
import type { HashedLeaf } from './tree.js';

/** A row version that was current at the older checkpoint, and was replaced or removed later. */
export interface EndedRow {
  readonly before: RowVersion;
  /** The version that replaced it; null if the row was removed. */
  readonly after: RowVersion | null;
}

/** The months and rows that the older checkpoint counted, and how these rows were replaced or removed later. */
export interface OlderCounts {
  /** The months that the folder is evidence of, as they were at the older checkpoint. */
  readonly months: readonly CheckedMonth[];
  /** The rows of these months that are no longer current. */
  readonly ended: readonly EndedRow[];
  /** The number of leaves that were erased after the older checkpoint. If it is not 0, months of the older checkpoint may be missing. */
  readonly erasedLeaves: number;
  /** Descriptions of months and organizations whose rows at the older checkpoint cannot be shown, because leaves were erased. */
  readonly unknown: readonly string[];
  /**
   * True if the folder is about an organization of which it shows no leaf at the older checkpoint: it had no sealed rows, or it
   * was left out.
   */
  readonly hasNoOrganization: boolean;
}

/** The input of `checkOlderCounts`. */
export interface OlderCountsRequest {
  readonly lines: EvidenceLines;
  /** The shown leaves by their index. */
  readonly leaves: ReadonlyMap<number, HashedLeaf>;
  /** The tree size of the older checkpoint. */
  readonly olderSize: number;
  /** The leaves that the older checkpoint names; null if its last leaf is not shown. */
  readonly older: NamedLeaves | null;
  /** The rows that are current at the newer checkpoint. */
  readonly currentRows: readonly RowVersion[];
  /** Returns true if the folder must show all rows of a month. */
  readonly isInScope: (month: { readonly organization: string; readonly month: string }) => boolean;
}

/**
 * Counts the rows at the older checkpoint again, so that no row can disappear unnoticed. Throws an EvidenceFault unless each of these rows
 * is still current or a later leaf replaced or removed it.
 *
 * For some organizations or months, the folder may lack leaves that the older checkpoint counted. If leaves were erased after the older
 * checkpoint, `unknown` describes these organizations and months. Otherwise an EvidenceFault is thrown.
 */
export async function checkOlderCounts(request: OlderCountsRequest): Promise<OlderCounts> {
  const { lines, leaves, olderSize, older, currentRows, isInScope } = request;
  const erasedLeaves = countErasedLeaves(leaves, olderSize);
  const unknown: string[] = [];
  /** Adds a description of what cannot be counted. Throws an EvidenceFault if nothing was erased that could explain it. */
  const addUnknown = (description: string) => {
    assertFolder(erasedLeaves > 0, `what the older checkpoint says about ${description} is missing`);
    unknown.push(description);
  };
  if (older === null) {
    addUnknown('any organization');
    return { months: [], ended: [], erasedLeaves, unknown, hasNoOrganization: false };
  }
  if (lines.header.scope === 'period')
    for (const { leafIndex, kind } of older.named)
      if (kind === 'organization' && !leaves.has(leafIndex))
        addUnknown(`an organization (leaf ${leafIndex})`);
  const changes = listLeavesOfKind(leaves, 'change');
  const rows = listRowsAt(changes, olderSize);
  for (const organization of new Set(rows.map(row => row.organization)))
    if (!older.organizations.has(organization)) addUnknown(`organization ${organization}`);
  const months = (await checkMonths(older, { ...lines, hidden: [] }, rows)).filter(isInScope);
  for (const { isComplete, list, organization, month, datedBy } of months)
    if (!isComplete) addUnknown(`${list} of ${organization} in ${month} (dated by the ${datedBy})`);
  const currentVersions = new Set(currentRows.map(({ version }) => version));
  const ended = new Map<number, EndedRow>();
  for (const { shown, isComplete } of months)
    for (const before of isComplete ? shown : [])
      if (!currentVersions.has(before.version))
        ended.set(before.version, findEnd(before, changes, olderSize));
  const hasNoOrganization = lines.header.scope === 'organization' && older.organizations.size === 0;
  return { months, ended: [...ended.values()], erasedLeaves, unknown, hasNoOrganization };
}

/** Returns the shown row versions that were current when the log had `olderSize` leaves, as at the older checkpoint. */
function listRowsAt(changes: readonly HashedLeaf[], olderSize: number): RowVersion[] {
  const before = changes.filter(({ leafIndex }) => leafIndex < olderSize);
  const ended = new Set(before.map(({ record }) => record.get('ended_version')));
  return before
    .filter(leaf => isRowVersion(leaf) && !ended.has(leaf.record.get('version')))
    .map(readRowVersion);
}

/**
 * Returns a row version with the version that replaced it, or with null if the row was removed. Looks for the change in the leaves with
 * index `olderSize` or higher. Throws an EvidenceFault if none of these leaves replaced or removed the version.
 */
function findEnd(before: RowVersion, changes: readonly HashedLeaf[], olderSize: number): EndedRow {
  const end = changes.find(
    ({ leafIndex, record }) => leafIndex >= olderSize && record.get('ended_version') === before.version,
  );
  assertFolder(
    end !== undefined,
    `leaf ${before.leaf.leafIndex} was current at the older checkpoint, and no leaf shows how it ended`,
  );
  return { before, after: isRowVersion(end) ? readRowVersion(end) : null };
}

/**
 * Counts the leaves that were erased after the older checkpoint, when the log had `olderSize` leaves. Adds up the numbers in the shown
 * leaves about erasures.
 */
function countErasedLeaves(leaves: ReadonlyMap<number, HashedLeaf>, olderSize: number): number {
  let count = 0;
  for (const kind of ['forget', 'purge'])
    for (const { leafIndex, record } of listLeavesOfKind(leaves, kind))
      if (leafIndex >= olderSize) count += Number(record.get('leaves') ?? 0);
  return count;
}
