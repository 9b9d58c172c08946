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
import { checkContinuation } from './continuation.js';
import { assertFolder, Fault } from './fault.js';
import { checkCertificates, type FolderFiles, readFolderTexts } from './folder-files.js';
import {
  type EvidenceLines,
  type Header,
  type NamedLine,
  parseEvidenceLines,
  type ReadsLine,
} from './parse-evidence.js';
import { checkOlderCounts, type OlderCounts } from './older-counts.js';
import { testPlatform } from './platform.js';
import { getText, isRowVersion, listLeavesOfKind, readRowVersion, type RowVersion } from './row-versions.js';
import { type Checkpoint, parseCheckpoint } from './signed-checkpoint.js';
import { checkSigner, type Signer } from './signer.js';
import { buildTree, type HashedLeaf, hashLeaves } from './tree.js';

const STEPS = [
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
type Step = (typeof STEPS)[number];

export type Verdict = 'verified' | 'not verified' | 'could not be checked';

export interface CheckRequest {
  readonly files: FolderFiles;
  /** 64 hex digits, or NAME+ID+KEY. */
  readonly key: string;
  /** The text of a checkpoint that the verifier received earlier; empty if there is none. */
  readonly olderCheckpoint: string;
  /** Called when a step begins, and while it counts something. */
  readonly onProgress?: (step: Step, finished?: number, total?: number) => void;
}

export interface CheckReport {
  readonly verdict: Verdict;
  /** Why the folder is not verified, or could not be checked. */
  readonly faults: readonly string[];
  /** Files of the folder that are not part of the format, so that nothing is known about them. */
  readonly uncheckedFiles: readonly string[];
  /** Null unless the verdict is "verified". */
  readonly evidence: VerifiedEvidence | null;
}

/** An organization or installation that the log knows at the checkpoint. */
interface KnownOrganization {
  readonly organization: string;
  readonly name: string;
  readonly state: string;
  /** False if no row of it was ever sealed. */
  readonly hasRows: boolean;
}

/** The content of a folder of which everything was checked. */
export interface VerifiedEvidence {
  readonly header: Header;
  readonly checkpoint: Checkpoint;
  readonly signer: Signer;
  /** The rows of the scope that are current at the checkpoint. */
  readonly rows: readonly RowVersion[];
  /** Versions of rows that are shown beside them: earlier ones, and certificates of rows. */
  readonly otherVersions: readonly RowVersion[];
  /** The months of the scope, of which every row is shown. */
  readonly months: readonly CheckedMonth[];
  readonly reads: readonly (ReadsLine & { readonly organization: string })[];
  readonly organizations: readonly KnownOrganization[];
  /** The number of organizations that the log knows and the folder does not show. */
  readonly otherOrganizations: number;
  /** Leaves about erasures and restores. */
  readonly events: readonly HashedLeaf[];
  /** The numbers of the syncs that observed the shown versions, and of those whose leaf is shown. */
  readonly syncs: { readonly total: number; readonly shown: number };
  readonly documents: ReadonlyMap<string, string>;
  /** Null if the verifier has no older checkpoint. */
  readonly older: OlderEvidence | null;
}

interface OlderEvidence {
  readonly checkpoint: Checkpoint;
  /** Null for the evidence of a single retirement. */
  readonly counts: OlderCounts | null;
  /** Rows that were observed before the older checkpoint was signed, and sealed after it. */
  readonly sealedLate: readonly RowVersion[];
}

/** Checks a folder. Never throws. */
export async function checkEvidence(request: CheckRequest): Promise<CheckReport> {
  const progress: Progress = { completed: [], current: STEPS[0], uncheckedFiles: [] };
  try {
    const evidence = await verifyFolder(request, progress);
    const isComplete = STEPS.every((step, index) => progress.completed[index] === step);
    if (!isComplete) throw new Error('a step was left out');
    return { verdict: 'verified', faults: [], uncheckedFiles: progress.uncheckedFiles, evidence };
  } catch (error) {
    return await describeFailure(error, progress);
  }
}

interface Progress {
  readonly completed: Step[];
  current: Step;
  uncheckedFiles: readonly string[];
}

/** Only a Fault found on a platform that still works says something about the folder. */
async function describeFailure(error: unknown, { current, uncheckedFiles }: Progress): Promise<CheckReport> {
  const describe = (failure: unknown) => (failure instanceof Error ? failure.message : String(failure));
  const report = { uncheckedFiles, evidence: null };
  if (!(error instanceof Fault))
    return { ...report, verdict: 'could not be checked', faults: [`${current}: ${describe(error)}`] };
  try {
    await testPlatform();
    return { ...report, verdict: 'not verified', faults: [error.message] };
  } catch (platformError) {
    return { ...report, verdict: 'could not be checked', faults: [describe(platformError)] };
  }
}

/** Runs all steps. Returns only if every step has returned. */
async function verifyFolder(
  { files, key, olderCheckpoint, onProgress = () => undefined }: CheckRequest,
  progress: Progress,
): Promise<VerifiedEvidence> {
  async function run<Result>(step: Step, work: () => Result | Promise<Result>): Promise<Result> {
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
    older === null ? undefined : checkContinuation({ header, checkpoint, older, signer, levels, leaves }),
  );
  await run('Hashing certificates', async () => {
    checkDocuments(leaves, lines.documents);
    const report = (finished: number, total: number) => onProgress('Hashing certificates', finished, total);
    await checkCertificates(files, listCertificateHashes(leaves), report);
  });
  const counted = await run('Counting rows', () => countRows(lines, leaves, checkpoint));
  await run('Comparing dates', () => checkDates(leaves, checkpoint));
  const { rows, named, olderNamed } = counted;
  const counts = await run('Counting rows at the older checkpoint', () =>
    header.since === null || header.scope === 'retirement'
      ? null
      : checkOlderCounts({
          lines,
          leaves,
          since: header.since,
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
    events: ['restore', 'forget', 'purge'].flatMap(kind => listLeavesOfKind(leaves, kind)),
    syncs: countSyncs(leaves),
    documents: lines.documents,
    older: older && {
      checkpoint: older,
      counts,
      sealedLate: rows.filter(
        ({ leaf, observedAt }) => leaf.place >= older.size && observedAt < older.instant,
      ),
    },
  };
}

/** Checks that the documents are exactly those whose hashes the records contain. */
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

function listCertificateHashes(leaves: ReadonlyMap<number, HashedLeaf>): ReadonlySet<string> {
  const hashes = new Set<string>();
  for (const { record } of leaves.values())
    if (getText(record, 'resource') === 'certificates' && record.has('sha256'))
      hashes.add(getText(record, 'sha256'));
  return hashes;
}

/** Checks that the rows are all sealed rows of the scope, and that no leaf is omitted that must be shown. */
async function countRows(
  lines: EvidenceLines,
  leaves: ReadonlyMap<number, HashedLeaf>,
  checkpoint: Checkpoint,
) {
  const { header } = lines;
  const named = await checkNamedLeaves(leaves, lines.named, checkpoint.size);
  assertFolder(named !== null, 'the last leaf of the checkpoint is missing');
  assertSealedAt(leaves.get(named.place), checkpoint);
  checkNothingIsOmitted(header, named, leaves);
  const since = header.since ?? 0;
  const olderNamed = since === 0 ? null : await checkNamedLeaves(leaves, lines.named, since);
  checkNoLineIsStray(lines, leaves, [named, ...(olderNamed === null ? [] : [olderNamed])]);
  const rows = [...leaves.values()].filter(({ isRow }) => isRow).map(readRowVersion);
  const months = await checkMonths(named, lines, rows);
  checkScope(header, rows, named);
  const asked = months.filter(month => isInScope(header, month));
  for (const { isComplete, list, organization, month, rows: count, shown } of asked)
    assertFolder(
      isComplete,
      `${list} of ${organization} in ${month}: ${count} rows were sealed, and the ${shown.length} shown are not these`,
    );
  const proven = header.scope === 'retirement' ? months.filter(({ isProven }) => isProven) : asked;
  const standing = new Set(proven.flatMap(({ shown }) => shown));
  for (const row of rows)
    assertFolder(standing.has(row), `row ${row.leaf.place} is not shown to be current at the checkpoint`);
  checkHiddenRows(lines, months);
  return { named, olderNamed, rows, months: asked, reads: await checkReads(named, lines) };
}

/** Returns true if the folder must show all rows of a month. */
function isInScope(
  { scope, value }: Header,
  { organization, month }: { readonly organization: string; readonly month: string },
): boolean {
  if (scope === 'period') return month.startsWith(value);
  return scope === 'organization' && organization === value;
}

/** Checks that the rows and organizations are those of the scope. */
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

/** Checks that each line belongs to a leaf that is shown and named, and each leaf to a known kind. */
function checkNoLineIsStray(
  { months, named, reads, header }: EvidenceLines,
  leaves: ReadonlyMap<number, HashedLeaf>,
  checkpoints: readonly NamedLeaves[],
): void {
  const organizationPlaces = new Set(
    checkpoints.flatMap(({ organizations }) => [...organizations.values()].map(({ place }) => place)),
  );
  const lastPlaces = new Set(checkpoints.map(({ place }) => place));
  const findStray = (lines: readonly { readonly place: number }[]) =>
    lines.find(({ place }) => !organizationPlaces.has(place));
  const stray = findStray(months) ?? findStray(reads) ?? findStray(listLeavesOfKind(leaves, 'organization'));
  assertFolder(stray === undefined, `leaf ${stray?.place} is not a leaf that a checkpoint names`);
  const strayName = named.find(({ namedBy }: NamedLine) => !lastPlaces.has(namedBy));
  assertFolder(strayName === undefined, `leaf ${strayName?.namedBy} is not the last leaf of a checkpoint`);
  for (const { place } of listLeavesOfKind(leaves, 'complete'))
    assertFolder(lastPlaces.has(place), `leaf ${place} is not the last leaf of a checkpoint`);
  for (const { place, record } of leaves.values()) {
    const kind = getText(record, 'kind');
    assertFolder(KINDS.has(kind), `leaf ${place} is of the unknown kind "${kind}"`);
  }
  assertFolder(header.since === null || header.since > 0, 'no checkpoint has 0 leaves');
}

/** The kinds of leaves of this format. */
const KINDS: ReadonlySet<string> = new Set([
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

/** Checks that rows shown only as commitments belong to the evidence of a retirement, and to months that are proven. */
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

function formatMonth({ place, list, month }: Pick<CheckedMonth, 'place' | 'list' | 'month'>): string {
  return `${place} ${list} ${month}`;
}

/** Checks that the last leaf contains the instant of the checkpoint. */
function assertSealedAt(last: HashedLeaf | undefined, { instant }: Checkpoint): void {
  const sealedAt = last === undefined ? '' : getText(last.record, 'sealed_at');
  assertFolder(
    sealedAt === instant,
    `the last leaf was sealed at ${sealedAt}, and the checkpoint says ${instant}`,
  );
}

/** Instants that cannot be later than the checkpoint, because the sealer signs no earlier one than it has sealed. */
const SEALED_INSTANTS = ['valid_from', 'ended_at', 'last_answer_at', 'finished_at', 'last_finished_at', 'at'];

/** Checks that nothing was observed after the checkpoint was signed. */
function checkDates(leaves: ReadonlyMap<number, HashedLeaf>, { instant }: Checkpoint): void {
  for (const { place, record } of leaves.values())
    for (const name of SEALED_INSTANTS) {
      const value = record.get(name);
      const isPossible = value === undefined || (isInstant(value) && value <= instant);
      assertFolder(isPossible, `leaf ${place}: "${name}" is not an instant before the checkpoint was signed`);
    }
}

/** Lists the organizations that the folder names, and counts those that it does not. */
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

function countSyncs(leaves: ReadonlyMap<number, HashedLeaf>): VerifiedEvidence['syncs'] {
  const needed = new Set<unknown>();
  for (const { record } of listLeavesOfKind(leaves, 'change'))
    for (const name of ['sync_id', 'ended_by']) if (record.has(name)) needed.add(record.get(name));
  const shown = listLeavesOfKind(leaves, 'sync').filter(({ record }) => needed.has(record.get('id')));
  return { total: needed.size, shown: shown.length };
}
