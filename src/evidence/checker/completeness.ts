import { hashText } from './bytes.js';
import { assertFolder, EvidenceFault } from './fault.js';
import { groupBy } from './group-by.js';
import type {
  EvidenceLines,
  Header,
  HiddenRow,
  MonthLine,
  NamedLine,
  LastReadLine,
} from './parse-evidence.js';
import { getText, listLeavesOfKind, type RowVersion } from './row-versions.js';
import type { HashedLeaf } from './tree.js';

/** The kind of a checkpoint leaf: the last leaf that a checkpoint covers. */
const CHECKPOINT_LEAF_KIND = 'complete';
/**
 * Kinds of leaves about organizations. A folder need not show named leaves of these kinds, because they may concern other organizations.
 * Only evidence of a period must show all of them.
 */
const KINDS_OF_ORGANIZATIONS = ['organization', 'coverage'];

/**
 * A checkpoint leaf, and the leaves that it names. A checkpoint leaf names leaves by the hash of a list with their indexes, kinds and
 * commitments.
 */
export interface NamedLeaves {
  /** The index of the checkpoint leaf. */
  readonly leafIndex: number;
  /** The named leaves, one line of evidence.jsonl each. The folder may contain only some of the leaves themselves. */
  readonly named: readonly NamedLine[];
  /** The named leaves of organizations that the folder shows, by the id of the organization. */
  readonly organizations: ReadonlyMap<string, HashedLeaf>;
}

/** The sealed counts of a month, with the rows of the month that the folder shows. */
export interface CheckedMonth extends MonthLine {
  /** The id of the organization. */
  readonly organization: string;
  /** The shown rows, newest version first. */
  readonly shown: readonly RowVersion[];
  /** True if `shown` has all rows of the month. */
  readonly isComplete: boolean;
  /** True if the folder has all rows of the month, at least as commitments. */
  readonly isProven: boolean;
}

/**
 * Returns the checkpoint leaf of a tree of `size` leaves, with the leaves that it names. Returns null if the folder does not show the
 * checkpoint leaf. `lines` has one line for each named leaf. Throws an EvidenceFault if the hash of these lines is not the hash in the
 * checkpoint leaf, or if a shown leaf differs from the line about it.
 */
export async function checkNamedLeaves(
  leaves: ReadonlyMap<number, HashedLeaf>,
  lines: readonly NamedLine[],
  size: number,
): Promise<NamedLeaves | null> {
  const leafIndex = size - 1;
  const last = leaves.get(leafIndex);
  if (last === undefined) return null;
  const named = lines.filter(({ namedBy }) => namedBy === leafIndex);
  const hash = await hashText(named.map(({ hashedText }) => hashedText).join(''));
  assertFolder(
    getText(last.record, 'kind') === CHECKPOINT_LEAF_KIND && last.record.get('named_sha256') === hash,
    `the leaves that leaf ${leafIndex} names are not the ones that it was sealed with`,
  );
  const organizations = new Map<string, HashedLeaf>();
  for (const line of named) {
    const leaf = leaves.get(line.leafIndex);
    if (leaf === undefined) continue;
    const isAsNamed = leaf.commitment === line.commitment && getText(leaf.record, 'kind') === line.kind;
    assertFolder(isAsNamed, `leaf ${line.leafIndex} is not what leaf ${leafIndex} says of it`);
    if (line.kind !== 'organization') continue;
    const organization = getText(leaf.record, 'organization_id');
    assertFolder(!organizations.has(organization), `leaf ${leafIndex} names two leaves of ${organization}`);
    organizations.set(organization, leaf);
  }
  return { leafIndex, named, organizations };
}

/**
 * Throws an EvidenceFault in one of three cases: the folder lacks a leaf that the checkpoint leaf names and that the folder must show; it
 * lacks the coverage leaf (the name and state) of a shown organization; or it shows a leaf about an erasure, a restore, a new key or
 * coverage that the checkpoint leaf does not name.
 */
export function checkNothingIsOmitted(
  { scope }: Header,
  { named, organizations, leafIndex }: NamedLeaves,
  leaves: ReadonlyMap<number, HashedLeaf>,
): void {
  for (const line of named) {
    const mayBeMissing = scope !== 'period' && KINDS_OF_ORGANIZATIONS.includes(line.kind);
    assertFolder(
      mayBeMissing || leaves.has(line.leafIndex),
      `leaf ${line.leafIndex} (${line.kind}) is missing`,
    );
  }
  const namedIndexes = new Set(named.map(line => line.leafIndex));
  for (const kind of ['forget', 'purge', 'restore', 'key', 'coverage'])
    for (const leaf of listLeavesOfKind(leaves, kind))
      assertFolder(
        namedIndexes.has(leaf.leafIndex),
        `leaf ${leaf.leafIndex} (${kind}) is not named by leaf ${leafIndex}`,
      );
  const covered = new Set(
    listLeavesOfKind(leaves, 'coverage').map(({ record }) => getText(record, 'organization_id')),
  );
  for (const organization of organizations.keys())
    assertFolder(covered.has(organization), `the leaf about the coverage of ${organization} is missing`);
}

/**
 * Counts the rows of the folder by month, and compares them with the sealed counts of each month (`months`). `hidden` rows, of which the
 * folder has only the commitment, are counted too. Throws an EvidenceFault if an organization's leaf does not have the hash of the monthly
 * counts, or if all rows of a month are shown but their sum is not the sealed one. A month of which not all rows are shown is returned with
 * `isComplete` false.
 */
export async function checkMonths(
  { organizations }: Pick<NamedLeaves, 'organizations'>,
  { months, hidden }: Pick<EvidenceLines, 'months' | 'hidden'>,
  rows: readonly RowVersion[],
): Promise<CheckedMonth[]> {
  const linesByOwner = groupBy(months, ({ ownerIndex }) => ownerIndex);
  const rowsByMonth = new Map<string, RowVersion[]>();
  for (const row of rows)
    for (const key of listMonthKeys(row)) {
      const group = rowsByMonth.get(key);
      if (group === undefined) rowsByMonth.set(key, [row]);
      else group.push(row);
    }
  const hiddenByMonth = groupBy(hidden, ({ ownerIndex, list, month }) => `${ownerIndex} ${list} ${month}`);
  const checked: CheckedMonth[] = [];
  for (const [organization, leaf] of organizations) {
    const lines = linesByOwner.get(leaf.leafIndex) ?? [];
    await checkLinesHash(leaf, 'months_sha256', lines);
    for (const line of lines) {
      const shown = rowsByMonth.get(formatMonthKey(organization, line)) ?? [];
      const others =
        line.datedBy === 'mirror'
          ? (hiddenByMonth.get(`${leaf.leafIndex} ${line.list} ${line.month}`) ?? [])
          : [];
      checked.push(await checkMonth(organization, line, shown, others));
    }
  }
  return checked;
}

/** Throws an EvidenceFault unless a field of a leaf's record is the SHA-256 of these lines. */
async function checkLinesHash(
  { record, leafIndex }: HashedLeaf,
  field: 'months_sha256' | 'reads_sha256',
  lines: readonly (MonthLine | LastReadLine)[],
): Promise<void> {
  const hash = await hashText(lines.map(({ hashedText }) => hashedText).join(''));
  assertFolder(record.get(field) === hash, `the lines of leaf ${leafIndex} are not those of its ${field}`);
}

/**
 * Compares all rows of a month with its sealed counts, and returns the month with `isComplete` and `isProven`. Throws an EvidenceFault if
 * all rows of the month are shown, but their sum is not the sealed one.
 */
async function checkMonth(
  organization: string,
  line: MonthLine,
  rows: readonly RowVersion[],
  hidden: readonly HiddenRow[],
): Promise<CheckedMonth> {
  const shown = rows.toSorted((left, right) => right.version - left.version);
  const all = [...shown.map(({ version, leaf }) => ({ version, commitment: leaf.commitment })), ...hidden];
  all.sort((left, right) => right.version - left.version);
  const hash = await hashText(all.map(({ commitment }) => `${commitment}\n`).join(''));
  const isProven = all.length === line.rows && hash === line.commitments;
  const isComplete = isProven && hidden.length === 0;
  if (isComplete) checkSum(organization, line, shown);
  return { ...line, organization, shown, isComplete, isProven };
}

/** Throws an EvidenceFault unless the rows of a month have the sealed sum. */
function checkSum(
  organization: string,
  { list, month, ...line }: MonthLine,
  rows: readonly RowVersion[],
): void {
  let [micro, withoutAmount] = [0n, 0];
  for (const row of rows) {
    if (row.micro === null) withoutAmount += 1;
    else micro += row.micro;
  }
  assertFolder(
    micro === line.micro && withoutAmount === line.withoutAmount,
    `the sum of ${list} of ${organization} in ${month} is not the sealed one`,
  );
}

/**
 * Returns the keys of the months in which a row is counted: the month in which the mirror observed the row, and the month of the registry's
 * date, if the row has such a date.
 */
function listMonthKeys({ organization, list, observedAt, datedAt }: RowVersion): string[] {
  const observed = formatMonthKey(organization, { list, datedBy: 'mirror', month: observedAt.slice(0, 7) });
  if (datedAt === null) return [observed];
  return [observed, formatMonthKey(organization, { list, datedBy: 'registry', month: datedAt.slice(0, 7) })];
}

/** Formats the key under which the rows of a month are counted. */
function formatMonthKey(
  organization: string,
  { list, datedBy, month }: Pick<MonthLine, 'list' | 'datedBy' | 'month'>,
): string {
  return `${datedBy} ${month} ${list} ${organization}`;
}

/**
 * Checks the lines that say when each list was last read, and returns them with the ids of their organizations. Throws an
 * EvidenceFault unless each organization's leaf has the hash of its lines and each line belongs to one of these leaves.
 */
export async function checkReads(
  { organizations }: NamedLeaves,
  { reads }: EvidenceLines,
): Promise<(LastReadLine & { readonly organization: string })[]> {
  const linesByOwner = groupBy(reads, ({ ownerIndex }) => ownerIndex);
  const checked: (LastReadLine & { readonly organization: string })[] = [];
  for (const [organization, leaf] of organizations) {
    const lines = linesByOwner.get(leaf.leafIndex) ?? [];
    await checkLinesHash(leaf, 'reads_sha256', lines);
    linesByOwner.delete(leaf.leafIndex);
    for (const line of lines) checked.push({ ...line, organization });
  }
  const [stray] = linesByOwner.keys();
  if (stray !== undefined)
    throw new EvidenceFault(`lines about reads belong to leaf ${stray}, which is not the newest`);
  return checked;
}
