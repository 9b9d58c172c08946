/**
 * Checks a folder that `carbon-mirror evidence export` wrote; docs/evidence-format.md describes it. Uses Web APIs only, so that
 * the same code runs in a browser, Node, Deno and Bun.
 *
 * The check fails closed. A folder is verified only if every step returned and none of them found a fault, and its rows are
 * given out in that case alone.
 */
import { isInstant } from './bytes.js';
import {
  type CheckedMonth,
  checkMonths,
  checkNamedLeaves,
  checkNothingIsOmitted,
  checkReads,
  type NamedLeaves,
} from './completeness.js';
import { checkConsistency } from './consistency.js';
import { assertFolder, EvidenceFault } from './fault.js';
import { checkCertificates, type FolderFiles, readFolderTexts } from './folder-files.js';
import {
  type EvidenceLines,
  type Header,
  type NamedLine,
  parseEvidenceLines,
  type LastReadLine,
} from './parse-evidence.js';
import { checkOlderCounts, type OlderCounts } from './older-counts.js';
import { testPlatform } from './platform.js';
import { getText, isRowVersion, listLeavesOfKind, readRowVersion, type RowVersion } from './row-versions.js';
import { type Checkpoint, parseCheckpoint } from './signed-checkpoint.js';
import { checkSigner, type Signer } from './signer.js';
import { buildTree, type HashedLeaf, hashLeaves } from './tree.js';

/** The steps of a check, in order. The names are shown while a step runs. */
const CHECK_STEPS = [
  'Testing this platform',
  'Reading files',
  'Parsing lines',
  'Hashing leaves',
  'Building the tree',
  'Checking the signature',
  'Checking the older checkpoint',
  'Hashing certificates',
  'Counting rows',
  'Comparing dates',
  'Counting rows at the older checkpoint',
  'Testing this platform again',
] as const;
type CheckStep = (typeof CHECK_STEPS)[number];

/** The result of a check. "Could not be checked" means that the platform or the checker failed, so nothing is known. */
export type Verdict = 'verified' | 'not verified' | 'could not be checked';

/** The input of a check: the files of the folder, the key of the log and an older checkpoint. */
export interface CheckRequest {
  readonly files: FolderFiles;
  /** The public key of the log: 64 hex digits, or NAME+ID+KEY. */
  readonly key: string;
  /** The text of a checkpoint that the user received earlier; empty if there is none. */
  readonly olderCheckpoint: string;
  /** Called when a step begins, and while it counts something. */
  readonly onProgress?: (step: CheckStep, finished?: number, total?: number) => void;
}

/** The verdict on a folder, with its reasons or its verified content. */
export interface CheckReport {
  readonly verdict: Verdict;
  /** Why the folder is not verified, or could not be checked; empty if it is verified. */
  readonly faults: readonly string[];
  /** Files of the folder that are not part of the format, so that nothing is known about them. */
  readonly uncheckedFiles: readonly string[];
  /** Null unless the verdict is "verified". */
  readonly evidence: VerifiedEvidence | null;
}

/** An organization whose coverage leaf (kind `coverage`, with the id, name and state of the organization) is in the folder. */
interface KnownOrganization {
  /** The id of the organization; that of the installation if the organization has none. */
  readonly organization: string;
  readonly name: string;
  readonly state: string;
  /** False if no row of it was ever sealed. */
  readonly hasRows: boolean;
}

/** The content of a verified folder. */
export interface VerifiedEvidence {
  readonly header: Header;
  readonly checkpoint: Checkpoint;
  readonly signer: Signer;
  /** The rows that the folder is evidence of, as they are at the checkpoint. */
  readonly rows: readonly RowVersion[];
  /** Other row versions that the folder shows: earlier ones, and certificates of rows. */
  readonly otherVersions: readonly RowVersion[];
  /** The months that the folder is evidence of. All their rows are shown. */
  readonly months: readonly CheckedMonth[];
  /** When each list of the shown organizations was last read completely. */
  readonly reads: readonly (LastReadLine & { readonly organization: string })[];
  readonly organizations: readonly KnownOrganization[];
  /** The number of further organizations that have a coverage leaf in the log, but none in the folder. */
  readonly otherOrganizations: number;
  /** The shown leaves about restores and erasures. */
  readonly logEvents: readonly HashedLeaf[];
  /**
   * The number of syncs (reads of a list) that observed a shown row version, or observed that it was replaced or removed (`total`), and how
   * many of these syncs are shown.
   */
  readonly syncs: { readonly total: number; readonly shown: number };
  /** The registry's JSON of rows, by its SHA-256. */
  readonly documents: ReadonlyMap<string, string>;
  /** Null if the user has no older checkpoint. */
  readonly older: OlderEvidence | null;
}

/** The result of the comparison with an older checkpoint. */
interface OlderEvidence {
  readonly checkpoint: Checkpoint;
  /** How the rows at the older checkpoint were replaced or removed later; null for the evidence of a single retirement. */
  readonly counts: OlderCounts | null;
  /** Rows that claim to be observed before the older checkpoint was signed, but were sealed after it. */
  readonly sealedLate: readonly RowVersion[];
}

/** Checks an evidence folder. Never throws; every failure is a verdict. */
export async function checkEvidence(request: CheckRequest): Promise<CheckReport> {
  const progress: CheckProgress = { completed: [], current: CHECK_STEPS[0], uncheckedFiles: [] };
  try {
    const evidence = await verifyFolder(request, progress);
    const isComplete = CHECK_STEPS.every((step, index) => progress.completed[index] === step);
    if (!isComplete) throw new Error('a step was left out');
    return { verdict: 'verified', faults: [], uncheckedFiles: progress.uncheckedFiles, evidence };
  } catch (error) {
    return await reportFailure(error, progress);
  }
}

/** How far a check has come. */
interface CheckProgress {
  readonly completed: CheckStep[];
  current: CheckStep;
  uncheckedFiles: readonly string[];
}

/**
 * Creates the report of a failed check. The verdict is "not verified" only if the error is an EvidenceFault and the platform still passes
 * `testPlatform`, its self-test. Otherwise the verdict is "could not be checked", because the error says nothing about the folder.
 */
async function reportFailure(
  error: unknown,
  { current, uncheckedFiles }: CheckProgress,
): Promise<CheckReport> {
  const describe = (failure: unknown) => (failure instanceof Error ? failure.message : String(failure));
  const report = { uncheckedFiles, evidence: null };
  if (!(error instanceof EvidenceFault))
    return { ...report, verdict: 'could not be checked', faults: [`${current}: ${describe(error)}`] };
  try {
    await testPlatform();
    return { ...report, verdict: 'not verified', faults: [error.message] };
  } catch (platformError) {
    return { ...report, verdict: 'could not be checked', faults: [describe(platformError)] };
  }
}

/** Runs all steps, and records the completed ones in `progress`. Throws an EvidenceFault if the folder cannot be verified. */
async function verifyFolder(
  { files, key, olderCheckpoint, onProgress = () => undefined }: CheckRequest,
  progress: CheckProgress,
): Promise<VerifiedEvidence> {
  /**
   * Runs `work` and returns its result. First makes `step` the current step and calls `onProgress`. At the end, adds `step` to the
   * completed steps, unless `work` throws.
   */
  async function run<Result>(step: CheckStep, work: () => Result | Promise<Result>): Promise<Result> {
    progress.current = step;
    onProgress(step);
    const result = await work();
    progress.completed.push(step);
    return result;
  }

  await run('Testing this platform', testPlatform);
  const texts = await run('Reading files', () => readFolderTexts(files));
  progress.uncheckedFiles = texts.uncheckedFiles;
  const lines = await run('Parsing lines', () => parseEvidenceLines(texts.lines));
  const { header } = lines;
  const checkpoint = parseCheckpoint(texts.checkpoint, 'checkpoint.txt');
  const older =
    olderCheckpoint.trim() === '' ? null : parseCheckpoint(olderCheckpoint, 'the older checkpoint');
  const leaves = await run('Hashing leaves', () => hashLeaves(lines.leaves));
  const levels = await run('Building the tree', () => buildTree(checkpoint, leaves, lines.nodes));
  const signer = await run('Checking the signature', () => checkSigner(checkpoint, leaves, key));
  await run('Checking the older checkpoint', () =>
    older === null ? undefined : checkConsistency({ header, checkpoint, older, signer, levels, leaves }),
  );
  await run('Hashing certificates', async () => {
    checkDocuments(leaves, lines.documents);
    const report = (finished: number, total: number) => onProgress('Hashing certificates', finished, total);
    await checkCertificates(files, listCertificateHashes(leaves), report);
  });
  const counted = await run('Counting rows', () => checkCompleteness(lines, leaves, checkpoint));
  await run('Comparing dates', () => checkInstants(leaves, checkpoint));
  const { rows, named, olderNamed } = counted;
  const counts = await run('Counting rows at the older checkpoint', () =>
    header.since === null || header.scope === 'retirement'
      ? null
      : checkOlderCounts({
          lines,
          leaves,
          olderSize: header.since,
          older: olderNamed,
          currentRows: rows,
          isInScope: month => isInScope(header, month),
        }),
  );
  await run('Testing this platform again', testPlatform);
  const shownVersions = listLeavesOfKind(leaves, 'change').filter(isRowVersion).map(readRowVersion);
  return {
    header,
    checkpoint,
    signer,
    rows,
    otherVersions: shownVersions.filter(({ leaf }) => !leaf.isRow),
    months: counted.months,
    reads: counted.reads,
    ...listOrganizations(leaves, named),
    logEvents: ['restore', 'forget', 'purge'].flatMap(kind => listLeavesOfKind(leaves, kind)),
    syncs: countSyncs(leaves),
    documents: lines.documents,
    older: older && {
      checkpoint: older,
      counts,
      sealedLate: rows.filter(
        ({ leaf, observedAt }) => leaf.leafIndex >= older.size && observedAt < older.instant,
      ),
    },
  };
}

/** Throws an EvidenceFault unless the documents are exactly those whose hashes the records contain. */
function checkDocuments(
  leaves: ReadonlyMap<number, HashedLeaf>,
  documents: ReadonlyMap<string, string>,
): void {
  const expected = new Set<unknown>();
  for (const { record } of leaves.values())
    if (record.has('document_sha256')) expected.add(record.get('document_sha256'));
  for (const hash of expected)
    assertFolder(
      typeof hash === 'string' && documents.has(hash),
      `the document with SHA-256 ${String(hash)} is missing`,
    );
  for (const hash of documents.keys())
    assertFolder(expected.has(hash), `the document with SHA-256 ${hash} belongs to no leaf`);
}

/** Returns the SHA-256 of each certificate that a shown record names. */
function listCertificateHashes(leaves: ReadonlyMap<number, HashedLeaf>): ReadonlySet<string> {
  const hashes = new Set<string>();
  for (const { record } of leaves.values())
    if (getText(record, 'resource') === 'certificates' && record.has('sha256'))
      hashes.add(getText(record, 'sha256'));
  return hashes;
}

/**
 * Throws an EvidenceFault unless the folder shows all sealed rows of its period, organization or retirement, and omits no leaf that must be
 * shown. Returns the rows, the months, the last complete read of each list, and the leaves that the checkpoint names (`named`).
 * `olderNamed` are the leaves that the older checkpoint names. It is null if there is no older checkpoint, or if the folder does not show
 * its last leaf.
 */
async function checkCompleteness(
  lines: EvidenceLines,
  leaves: ReadonlyMap<number, HashedLeaf>,
  checkpoint: Checkpoint,
) {
  const { header } = lines;
  const named = await checkNamedLeaves(leaves, lines.named, checkpoint.size);
  assertFolder(named !== null, 'the last leaf of the checkpoint is missing');
  assertSealedAt(leaves.get(named.leafIndex), checkpoint);
  checkNothingIsOmitted(header, named, leaves);
  const olderSize = header.since ?? 0;
  const olderNamed = olderSize === 0 ? null : await checkNamedLeaves(leaves, lines.named, olderSize);
  checkNoStrayLines(lines, leaves, [named, ...(olderNamed === null ? [] : [olderNamed])]);
  const rows = [...leaves.values()].filter(({ isRow }) => isRow).map(readRowVersion);
  const months = await checkMonths(named, lines, rows);
  checkScope(header, rows, named);
  const monthsInScope = months.filter(month => isInScope(header, month));
  for (const { isComplete, list, organization, month, rows: count, shown } of monthsInScope)
    assertFolder(
      isComplete,
      `${list} of ${organization} in ${month}: ${count} rows were sealed, and the ${shown.length} shown are not these`,
    );
  const proven = header.scope === 'retirement' ? months.filter(({ isProven }) => isProven) : monthsInScope;
  const provenRows = new Set(proven.flatMap(({ shown }) => shown));
  for (const row of rows)
    assertFolder(
      provenRows.has(row),
      `row ${row.leaf.leafIndex} is not shown to be current at the checkpoint`,
    );
  checkHiddenRows(lines, months);
  return { named, olderNamed, rows, months: monthsInScope, reads: await checkReads(named, lines) };
}

/** Returns true if the folder must show all rows of this month. Always false for the evidence of a retirement. */
function isInScope(
  { scope, value }: Header,
  { organization, month }: { readonly organization: string; readonly month: string },
): boolean {
  if (scope === 'period') return month.startsWith(value);
  return scope === 'organization' && organization === value;
}

/**
 * Checks that the folder shows rows of what it is evidence of. Throws an EvidenceFault if it shows no row. For an organization, throws one
 * unless the folder shows the leaf of this organization and of no other. For a retirement, throws one unless the folder shows this
 * retirement and only rows that belong to it.
 */
function checkScope(
  { scope, value }: Header,
  rows: readonly RowVersion[],
  { organizations }: NamedLeaves,
): void {
  assertFolder(rows.length > 0, 'the folder shows no row, so it proves nothing');
  if (scope === 'organization')
    assertFolder(
      organizations.size === 1 && organizations.has(value),
      `the folder must show the leaf of organization ${value} and no other`,
    );
  if (scope !== 'retirement') return;
  const retirements = rows.filter(({ list }) => list === 'retirements');
  const isOfRetirement = ({ list, leaf }: RowVersion) =>
    getText(leaf.record, list === 'retirements' ? 'id' : 'retirement_id') === value;
  assertFolder(
    retirements.length === 1 && rows.every(isOfRetirement),
    `the rows must be those of retirement ${value} alone`,
  );
}

/**
 * Throws an EvidenceFault for a line or an organization's leaf that belongs to none of these checkpoints, and for a leaf of an
 * unknown kind.
 */
function checkNoStrayLines(
  { months, named, reads, header }: EvidenceLines,
  leaves: ReadonlyMap<number, HashedLeaf>,
  checkpoints: readonly NamedLeaves[],
): void {
  const organizationIndexes = new Set(
    checkpoints.flatMap(({ organizations }) => [...organizations.values()].map(({ leafIndex }) => leafIndex)),
  );
  const checkpointIndexes = new Set(checkpoints.map(({ leafIndex }) => leafIndex));
  const owners = [...months, ...reads].map(({ ownerIndex }) => ownerIndex);
  const shownIndexes = listLeavesOfKind(leaves, 'organization').map(({ leafIndex }) => leafIndex);
  const stray = [...owners, ...shownIndexes].find(index => !organizationIndexes.has(index));
  assertFolder(stray === undefined, `leaf ${stray} is not a leaf that a checkpoint names`);
  const strayName = named.find(({ namedBy }: NamedLine) => !checkpointIndexes.has(namedBy));
  assertFolder(strayName === undefined, `leaf ${strayName?.namedBy} is not the last leaf of a checkpoint`);
  for (const { leafIndex } of listLeavesOfKind(leaves, 'complete'))
    assertFolder(checkpointIndexes.has(leafIndex), `leaf ${leafIndex} is not the last leaf of a checkpoint`);
  for (const { leafIndex, record } of leaves.values()) {
    const kind = getText(record, 'kind');
    assertFolder(LEAF_KINDS.has(kind), `leaf ${leafIndex} is of the unknown kind "${kind}"`);
  }
  assertFolder(header.since === null || header.since > 0, 'no checkpoint has 0 leaves');
}

/** All kinds of leaves in the format. */
const LEAF_KINDS: ReadonlySet<string> = new Set([
  'change',
  'sync',
  'unchanged',
  'open_span',
  'coverage',
  'organization',
  'complete',
  'forget',
  'purge',
  'restore',
  'key',
]);

/**
 * Throws an EvidenceFault if a hidden row (a row of which the folder has only the commitment) is not allowed. Hidden rows are allowed only
 * in evidence of a retirement, and only if the folder has all sealed rows of the same organization, list and month.
 */
function checkHiddenRows({ header, hidden }: EvidenceLines, months: readonly CheckedMonth[]): void {
  assertFolder(
    hidden.length === 0 || header.scope === 'retirement',
    'rows are hidden that the folder must show',
  );
  const proven = new Set(
    months.filter(({ isProven, datedBy }) => isProven && datedBy === 'mirror').map(formatMonth),
  );
  for (const row of hidden)
    assertFolder(proven.has(formatMonth(row)), `a hidden row of ${row.list} does not belong to its month`);
}

/** Formats the month of an organization's leaf and list as a key. */
function formatMonth({
  ownerIndex,
  list,
  month,
}: Pick<CheckedMonth, 'ownerIndex' | 'list' | 'month'>): string {
  return `${ownerIndex} ${list} ${month}`;
}

/** Throws an EvidenceFault unless the last leaf of the checkpoint contains the instant of the checkpoint. */
function assertSealedAt(last: HashedLeaf | undefined, { instant }: Checkpoint): void {
  const sealedAt = last === undefined ? '' : getText(last.record, 'sealed_at');
  assertFolder(
    sealedAt === instant,
    `the last leaf was sealed at ${sealedAt}, and the checkpoint says ${instant}`,
  );
}

/** Fields of a record with instants. None may be later than the checkpoint: the sealer never signs an earlier instant. */
const INSTANT_FIELDS = ['valid_from', 'ended_at', 'last_answer_at', 'finished_at', 'last_finished_at', 'at'];

/** Throws an EvidenceFault if one of the `INSTANT_FIELDS` of a record is malformed or later than the instant of the checkpoint. */
function checkInstants(leaves: ReadonlyMap<number, HashedLeaf>, { instant }: Checkpoint): void {
  for (const { leafIndex, record } of leaves.values())
    for (const name of INSTANT_FIELDS) {
      const value = record.get(name);
      const isPossible = value === undefined || (isInstant(value) && value <= instant);
      assertFolder(
        isPossible,
        `leaf ${leafIndex}: "${name}" is not an instant before the checkpoint was signed`,
      );
    }
}

/**
 * Lists the organizations of which the folder shows the coverage leaf (kind `coverage`, with the name and state of an organization). Also
 * counts the coverage leaves that the checkpoint leaf names and the folder does not show.
 */
function listOrganizations(
  leaves: ReadonlyMap<number, HashedLeaf>,
  { named, organizations }: NamedLeaves,
): Pick<VerifiedEvidence, 'organizations' | 'otherOrganizations'> {
  const shown = listLeavesOfKind(leaves, 'coverage').map(({ record }) => ({
    organization: getText(record, 'organization_id') || getText(record, 'installation_id'),
    name: getText(record, 'organization_name'),
    state: getText(record, 'state'),
    hasRows: organizations.has(getText(record, 'organization_id')),
  }));
  const known = named.filter(({ kind }) => kind === 'coverage').length;
  return { organizations: shown, otherOrganizations: known - shown.length };
}

/**
 * Counts the syncs (reads of a list) that observed a shown row version, or observed that it was replaced or removed. Also counts how many
 * of these syncs the folder shows.
 */
function countSyncs(leaves: ReadonlyMap<number, HashedLeaf>): VerifiedEvidence['syncs'] {
  const needed = new Set<unknown>();
  for (const { record } of listLeavesOfKind(leaves, 'change'))
    for (const name of ['sync_id', 'ended_by']) if (record.has(name)) needed.add(record.get(name));
  const shown = listLeavesOfKind(leaves, 'sync').filter(({ record }) => needed.has(record.get('id')));
  return { total: needed.size, shown: shown.length };
}
