import { hashText } from './bytes.js';
import { assertFolder, Fault } from './fault.js';
import { groupBy } from './group-by.js';
import type { EvidenceLines, Header, HiddenRow, MonthLine, NamedLine, ReadsLine } from './parse-evidence.js';
import { getText, listLeavesOfKind, type RowVersion } from './row-versions.js';
import type { HashedLeaf } from './tree.js';

const LAST_LEAF = 'complete';
/** Leaves of these kinds may be left out of the evidence of a single organization, if they concern others. */
const KINDS_OF_ORGANIZATIONS = ['organization', 'coverage'];

/** The leaf that names the newest leaves at one size of the log, and the leaves of organizations that it names. */
export interface NamedLeaves {
  readonly place: number;
  readonly named: readonly NamedLine[];
  /** The shown leaves of organizations, by the id of the organization. */
  readonly organizations: ReadonlyMap<string, HashedLeaf>;
}

/** The months of an organization's leaf, with the rows of each month that the folder shows. */
export interface CheckedMonth extends MonthLine {
  readonly organization: string;
  /** The shown rows, newest version first. */
  readonly shown: readonly RowVersion[];
  /** True if `shown` is all rows of the month. */
  readonly isComplete: boolean;
  /** True if all rows of the month are known at least by their commitments. */
  readonly isProven: boolean;
}

/**
 * Checks the last leaf of a checkpoint of `size` leaves: its hash covers the lines that name other leaves, and each shown leaf is
 * what its line says. Returns null if the leaf is not shown.
 */
export async function checkNamedLeaves(
  leaves: ReadonlyMap<number, HashedLeaf>,
  lines: readonly NamedLine[],
  size: number,
): Promise<NamedLeaves | null> {
  const place = size - 1;
  const last = leaves.get(place);
  if (last === undefined) return null;
  const named = lines.filter(({ namedBy }) => namedBy === place);
  const hash = await hashText(named.map(({ sealedText }) => sealedText).join(''));
  assertFolder(
    getText(last.record, 'kind') === LAST_LEAF && last.record.get('named_sha256') === hash,
    `the leaves that leaf ${place} names are not the ones that it was sealed with`,
  );
  const organizations = new Map<string, HashedLeaf>();
  for (const line of named) {
    const leaf = leaves.get(line.place);
    if (leaf === undefined) continue;
    const isAsNamed = leaf.commitment === line.commitment && getText(leaf.record, 'kind') === line.kind;
    assertFolder(isAsNamed, `leaf ${line.place} is not what leaf ${place} says of it`);
    if (line.kind !== 'organization') continue;
    const organization = getText(leaf.record, 'organization_id');
    assertFolder(!organizations.has(organization), `leaf ${place} names two leaves of ${organization}`);
    organizations.set(organization, leaf);
  }
  return { place, named, organizations };
}

/** Throws a Fault if a leaf is missing that the last leaf of the checkpoint names and that this scope needs. */
export function checkNothingIsOmitted(
  { scope }: Header,
  { named, organizations, place }: NamedLeaves,
  leaves: ReadonlyMap<number, HashedLeaf>,
): void {
  for (const line of named) {
    const mayBeMissing = scope !== 'period' && KINDS_OF_ORGANIZATIONS.includes(line.kind);
    assertFolder(mayBeMissing || leaves.has(line.place), `leaf ${line.place} (${line.kind}) is missing`);
  }
  const namedPlaces = new Set(named.map(line => line.place));
  for (const kind of ['forget', 'purge', 'restore', 'key', 'coverage'])
    for (const leaf of listLeavesOfKind(leaves, kind))
      assertFolder(namedPlaces.has(leaf.place), `leaf ${leaf.place} (${kind}) is not named by leaf ${place}`);
  const covered = new Set(
    listLeavesOfKind(leaves, 'coverage').map(({ record }) => getText(record, 'organization_id')),
  );
  for (const organization of organizations.keys())
    assertFolder(covered.has(organization), `the leaf about the coverage of ${organization} is missing`);
}

/** Checks the months of each organization's leaf against the rows and commitments of the folder. */
export async function checkMonths(
  { organizations }: Pick<NamedLeaves, 'organizations'>,
  { months, hidden }: Pick<EvidenceLines, 'months' | 'hidden'>,
  rows: readonly RowVersion[],
): Promise<CheckedMonth[]> {
  const linesByPlace = groupBy(months, ({ place }) => place);
  const rowsByMonth = new Map<string, RowVersion[]>();
  for (const row of rows)
    for (const key of listMonthKeys(row)) {
      const group = rowsByMonth.get(key);
      if (group === undefined) rowsByMonth.set(key, [row]);
      else group.push(row);
    }
  const hiddenByMonth = groupBy(hidden, ({ place, list, month }) => `${place} ${list} ${month}`);
  const checked: CheckedMonth[] = [];
  for (const [organization, leaf] of organizations) {
    const lines = linesByPlace.get(leaf.place) ?? [];
    await checkSealedLines(leaf, 'months_sha256', lines);
    for (const line of lines) {
      const shown = rowsByMonth.get(formatMonthKey(organization, line)) ?? [];
      const others =
        line.datedBy === 'mirror'
          ? (hiddenByMonth.get(`${leaf.place} ${line.list} ${line.month}`) ?? [])
          : [];
      checked.push(await checkMonth(organization, line, shown, others));
    }
  }
  return checked;
}

/** Throws a Fault unless these lines are the ones whose hash a leaf contains. */
async function checkSealedLines(
  { record, place }: HashedLeaf,
  field: 'months_sha256' | 'reads_sha256',
  lines: readonly (MonthLine | ReadsLine)[],
): Promise<void> {
  const hash = await hashText(lines.map(({ sealedText }) => sealedText).join(''));
  assertFolder(record.get(field) === hash, `the lines of leaf ${place} are not those of its ${field}`);
}

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

/** Checks that the rows of a month have the sealed sum. */
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

/** Returns the months in which a row counts: the one of its observation, and the one of the registry's date. */
function listMonthKeys({ organization, list, observedAt, datedAt }: RowVersion): string[] {
  const observed = formatMonthKey(organization, { list, datedBy: 'mirror', month: observedAt.slice(0, 7) });
  if (datedAt === null) return [observed];
  return [observed, formatMonthKey(organization, { list, datedBy: 'registry', month: datedAt.slice(0, 7) })];
}

function formatMonthKey(
  organization: string,
  { list, datedBy, month }: Pick<MonthLine, 'list' | 'datedBy' | 'month'>,
): string {
  return `${datedBy} ${month} ${list} ${organization}`;
}

/** Checks the lines about the reads of each organization's leaf. */
export async function checkReads(
  { organizations }: NamedLeaves,
  { reads }: EvidenceLines,
): Promise<(ReadsLine & { readonly organization: string })[]> {
  const linesByPlace = groupBy(reads, ({ place }) => place);
  const checked: (ReadsLine & { readonly organization: string })[] = [];
  for (const [organization, leaf] of organizations) {
    const lines = linesByPlace.get(leaf.place) ?? [];
    await checkSealedLines(leaf, 'reads_sha256', lines);
    linesByPlace.delete(leaf.place);
    for (const line of lines) checked.push({ ...line, organization });
  }
  const [stray] = linesByPlace.keys();
  if (stray !== undefined)
    throw new Fault(`lines about reads belong to leaf ${stray}, which is not the newest`);
  return checked;
}
