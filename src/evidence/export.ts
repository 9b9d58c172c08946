import { type TreeHead, parseTreeHead, getSignedAt } from './checkpoint.js';
import { toCanonicalJson, isCommittedTo } from './leaf.js';
import {
  listMonthKeys,
  createCheckpointLeafInput,
  createOrganizationLeafInput,
  readCheckpointLeaf,
  computeMonthlyTotals,
  readNamedLeaves,
} from './completeness-leaves.js';
import { throwEvidenceError } from './evidence-error.js';
import { createLineCollector } from './evidence-lines.js';
import { toHex } from './hashes.js';
import { NO_LIMIT, type Checkpoint, type EvidencePort, type Leaf, type LeafInput } from './port.js';
import { listProofNodes } from './proof.js';
import { readSealedReads } from './sealed-reads.js';
import { EMPTY_TREE, createMerkleTree } from './tree.js';

/** The rows that are exported: all that are dated or observed in a period, all of an organization, or one retirement. */
export interface ExportScope {
  readonly kind: 'period' | 'organization' | 'retirement';
  /** The period, or the id of the organization or retirement. */
  readonly value: string;
  /** The organization whose rows are exported; null for all. */
  readonly organizationId: string | null;
  /** For a retirement, the numbers of all changes of it and of its certificate; otherwise empty. */
  readonly numbers: readonly number[];
}

/** The request for an export: what to export, and how to export certificates. */
export interface ExportRequest {
  readonly port: EvidencePort;
  readonly scope: ExportScope;
  /** Exports the newest checkpoint that was signed at or before this instant, in milliseconds; null for the newest of all. */
  readonly asOf: number | null;
  /** The older checkpoint from which the log is proven to continue; null for none. */
  readonly since: TreeHead | null;
  /** True to name also the organizations whose rows are not exported, by their coverage leaves (id, name and state). */
  readonly nameOthers: boolean;
  /** Called for each exported record: adds its certificate to the folder, if it has one. */
  readonly addCertificate: (input: LeafInput) => Promise<void>;
}

/**
 * Collects the lines of evidence.jsonl. Returns them with the checkpoint, the number of exported rows, and how many of these are
 * retirements. Throws an EvidenceError if an exported record was changed after it was sealed, if nothing was sealed by `asOf`, or if the
 * log does not begin with all leaves of the older checkpoint (`since`).
 */
export async function exportEvidence({
  port,
  scope,
  asOf,
  since,
  nameOthers,
  addCertificate,
}: ExportRequest) {
  const checkpoint =
    (await findCheckpoint(port, asOf ?? Infinity)) ?? throwEvidenceError('nothing was sealed by then');
  const { size } = checkpoint;
  const last = await readCheckpointLeaf(port, size);
  if (last.leaf?.place !== size - 1) throwEvidenceError('the checkpoint does not say what is complete');
  const upTo = last.fields.up_to;
  const named = await readNamedLeaves(port, last.place);
  const lines = createLineCollector();
  /** The indexes of the leaves that are added so far. */
  const addedIndexes = new Set<number>();
  const syncs = new Set<number>();
  let [rows, retirements] = [0, 0];

  lines.add('header', [], {
    format: 2,
    scope: scope.kind,
    since: since?.size ?? null,
    value: scope.value,
  });
  const known = await port.listLeaves({ kind: 'change', numbers: scope.numbers });
  const versions = known.filter(({ number }) => number <= upTo);
  const monthsOfVersions = new Set(versions.map(formatObservedMonth));
  for (const leaf of named.organizations.filter(isOfScope)) {
    const organizationId = String(leaf.subject);
    const { text, totals } = await computeMonthlyTotals(port, organizationId, upTo);
    await addRecord(
      'leaf',
      leaf,
      await createOrganizationLeafInput(port, organizationId, leaf.place, totals),
    );
    addMonths(leaf, text);
    const reads = await readSealedReads(port, organizationId, leaf.place);
    lines.addHashedLines('reads', reads.text, { reads_of: leaf.place }, ['reads_of', 'list']);
    await addCurrentRows(organizationId, leaf.place);
  }
  for (const version of versions) await addChanges('leaf', [version]);
  await addCheckpointLeaf(last, named);
  if (since !== null) await addOlderCounts(since.size);
  await addSyncs();
  const coverage = nameOthers ? named.coverage : named.coverage.filter(isOfScope);
  for (const leaf of [...named.logEvents, ...coverage]) await addLeaf('leaf', leaf, leaf.record ?? '');
  await addNodes(parseTreeHead(checkpoint.note));
  return { checkpoint, lines, rows, retirements };

  /** Returns true if a leaf is about an organization whose rows are exported. */
  function isOfScope({ subject }: Leaf): boolean {
    return scope.organizationId === null || scope.organizationId === subject;
  }

  /**
   * Adds the line of a leaf with its record in canonical JSON. Returns false if the leaf was added before. Throws an
   * EvidenceError if the leaf does not commit to this record.
   */
  async function addLeaf(kind: 'row' | 'leaf', leaf: Leaf, recordJson: string): Promise<boolean> {
    if (!isCommittedTo(leaf, recordJson)) await throwLeafError(leaf);
    if (addedIndexes.has(leaf.place)) return false;
    addedIndexes.add(leaf.place);
    lines.addLeaf(kind, leaf, recordJson);
    return true;
  }

  /**
   * Throws an EvidenceError that says why a leaf cannot be exported. Either the leaf was changed, or an erasure after the checkpoint
   * removed its content. For a checkpoint leaf, the erasure may also have removed the content of a leaf that it names.
   */
  async function throwLeafError({ kind, number, salt }: Leaf): Promise<never> {
    const logEvents =
      salt === null || kind === 'complete' ? await port.listLeaves({ logEventsBefore: NO_LIMIT }) : [];
    const erased = logEvents.find(each => each.place >= size && ['forget', 'purge'].includes(each.kind));
    return throwEvidenceError(
      erased === undefined
        ? `${kind} ${number} is not as it was sealed: see "verify"`
        : `rows were erased by a ${erased.kind} after the checkpoint of ${getSignedAt(checkpoint.note)}, so it cannot be shown completely any more. Export the current state`,
    );
  }

  /**
   * Adds a leaf with the record of its input, its document and its certificate, and counts it if it is a row. Collects the ids of the syncs
   * in the record, for `addSyncs`.
   */
  async function addRecord(kind: 'row' | 'leaf', leaf: Leaf, input: LeafInput): Promise<void> {
    const { record, document } = input;
    if (!(await addLeaf(kind, leaf, toCanonicalJson(record)))) return;
    for (const id of [record['sync_id'], record['ended_by']]) if (id != null) syncs.add(Number(id));
    if (document !== null) lines.addDocument(document);
    await addCertificate(input);
    if (kind === 'row') rows += 1;
    if (kind === 'row' && input.resource === 'retirements') retirements += 1;
  }

  /**
   * Adds those of the change leaves whose input `isSelected` accepts. All leaves must be of one resource. Returns the inputs of all leaves,
   * also of those that were not added. Throws an EvidenceError if the mirror lacks one of the changes.
   */
  async function addChanges(
    kind: 'row' | 'leaf',
    leaves: readonly Leaf[],
    isSelected: (input: LeafInput) => boolean = () => true,
  ): Promise<readonly LeafInput[]> {
    const numbers = leaves.map(({ number }) => number);
    const inputs = await port.listChangesByNumber(leaves[0]?.resource ?? '', numbers);
    const byNumber = new Map(inputs.map(input => [input.number, input]));
    for (const leaf of leaves) {
      const input =
        byNumber.get(leaf.number) ?? throwEvidenceError(`change ${leaf.number} is missing: see "verify"`);
      if (isSelected(input)) await addRecord(kind, leaf, input);
    }
    return inputs;
  }

  /**
   * Adds the current rows of an organization that `scope` selects. `organizationIndex` is the index of the organization's leaf.
   *
   * If `scope` is a period, also adds the certificates of the retirements among these rows. If `scope` is a retirement, also adds the
   * commitment (without the content) of each other current row that is in the same list and was observed in the same month as a version of
   * the retirement or of its certificate.
   */
  async function addCurrentRows(organizationId: string, organizationIndex: number): Promise<void> {
    const retirementIds = new Set<unknown>();
    for await (const batch of port.iterateCurrentLeaves(organizationId, upTo)) {
      const others = batch.filter(leaf => !isInScope(scope, leaf));
      const added = await addChanges(
        'row',
        batch.filter(leaf => isInScope(scope, leaf)),
      );
      for (const { resource, record } of added)
        if (resource === 'retirements') retirementIds.add(record['id']);
      if (batch[0]?.resource === 'certificates' && scope.kind === 'period')
        await addChanges('leaf', others, ({ record }) => retirementIds.has(record['retirement_id']));
      for (const leaf of others)
        if (monthsOfVersions.has(formatObservedMonth(leaf))) addHiddenRow(organizationIndex, leaf);
    }
  }

  /** Adds the commitment of a row instead of the row. `organizationIndex` is the index of the organization's leaf. */
  function addHiddenRow(organizationIndex: number, { resource, observed, number, commitment }: Leaf): void {
    const [list, month] = [String(resource), String(observed)];
    lines.add('hidden', [organizationIndex, list, month, number], {
      commitment: toHex(commitment),
      hidden: organizationIndex,
      list,
      month,
      version: number,
    });
  }

  /** Adds the lines with monthly counts whose hash an organization's leaf contains. */
  function addMonths({ place }: Leaf, text: string): void {
    const key = ['months_of', 'list', 'dated_by', 'month'];
    lines.addHashedLines('months', text, { months_of: place }, key);
  }

  /** Adds a checkpoint leaf, with the lines of the leaves that it names. Does nothing if it was added before. */
  async function addCheckpointLeaf(
    { leaf, place, fields }: Awaited<ReturnType<typeof readCheckpointLeaf>>,
    namedLeaves: Awaited<ReturnType<typeof readNamedLeaves>>,
  ): Promise<void> {
    if (leaf === undefined || addedIndexes.has(place)) return;
    await addRecord('leaf', leaf, createCheckpointLeafInput(namedLeaves, fields));
    lines.addHashedLines('named', namedLeaves.text, { named_by: place }, ['named_by', 'named']);
  }

  /**
   * Adds what a checker needs to count the exported rows again as of the older checkpoint of `olderSize` leaves: the lines with monthly
   * counts, the rows, and, for each row that is no longer current, the change that replaced or removed it. Omits data that was erased after
   * the older checkpoint; the checker reports that this data is missing.
   */
  async function addOlderCounts(olderSize: number): Promise<void> {
    if (scope.kind === 'retirement') return;
    const older = await readCheckpointLeaf(port, olderSize);
    /** `addNodes` refuses an older checkpoint of another log. */
    if (older.leaf?.place !== olderSize - 1) return;
    const olderNamed = await readNamedLeaves(port, older.place);
    const input = createCheckpointLeafInput(olderNamed, older.fields);
    if (!isCommittedTo(older.leaf, toCanonicalJson(input.record))) return;
    await addCheckpointLeaf(older, olderNamed);
    const endedVersions = new Set<number>();
    for (const leaf of olderNamed.organizations.filter(isOfScope))
      await addOlderOrganization(leaf, older.fields.up_to, endedVersions);
    for await (const leaves of port.iterateLeaves(olderSize, size))
      for (const leaf of leaves)
        if (leaf.kind === 'change' && endedVersions.has(leaf.ended ?? -1)) await addChanges('leaf', [leaf]);
  }

  /**
   * Adds an organization's leaf that the older checkpoint names, with its lines of monthly counts. Also adds the exported rows that were
   * current up to the change `olderUpTo` and were replaced or removed later, and adds their version numbers to `endedVersions`. Does
   * nothing if an erasure changed the counts.
   */
  async function addOlderOrganization(
    leaf: Leaf,
    olderUpTo: number,
    endedVersions: Set<number>,
  ): Promise<void> {
    const organizationId = String(leaf.subject);
    const { text, totals } = await computeMonthlyTotals(port, organizationId, olderUpTo);
    const input = await createOrganizationLeafInput(port, organizationId, leaf.place, totals);
    if (!isCommittedTo(leaf, toCanonicalJson(input.record))) return;
    if (!addedIndexes.has(leaf.place)) {
      await addRecord('leaf', leaf, input);
      addMonths(leaf, text);
    }
    for await (const batch of port.iterateCurrentLeaves(organizationId, olderUpTo)) {
      const ended = batch.filter(each => isInScope(scope, each) && !addedIndexes.has(each.place));
      for (const { number } of ended) endedVersions.add(number);
      await addChanges('leaf', ended);
    }
  }

  /**
   * Adds the syncs (reads of a list) that observed an added row version, or observed that it was replaced or removed. Omits syncs that the
   * mirror has deleted as old.
   */
  async function addSyncs(): Promise<void> {
    for (const leaf of await port.listLeaves({ kind: 'sync', numbers: [...syncs] })) {
      const [input] = await port.listNumberedInputs('sync', leaf.number - 1, leaf.number);
      if (leaf.salt !== null && leaf.place < size && input !== undefined)
        await addRecord('leaf', leaf, input);
    }
  }

  /**
   * Adds the Merkle proof: the nodes of the tree that a checker cannot compute from the added leaves. Throws an EvidenceError if
   * the leaves do not have the root of the exported checkpoint, or of the older one.
   */
  async function addNodes({ root }: TreeHead): Promise<void> {
    const olderSize = since?.size ?? 0;
    if (olderSize > size)
      throwEvidenceError(`the older checkpoint has ${olderSize} leaves, and this one ${size}`);
    const needed = listProofNodes(addedIndexes, olderSize, size);
    const tree = createMerkleTree(EMPTY_TREE, (level, index, hash) => {
      if (needed.has(`${level} ${index}`))
        lines.add('node', [level, index], { hash: toHex(hash), index, level });
    });
    await tree.appendAll(port.iterateCommitments(0, olderSize));
    if (since !== null && tree.computeRoot() !== since.root)
      throwEvidenceError('the log does not continue from the older checkpoint: it is of another log');
    await tree.appendAll(port.iterateCommitments(olderSize, size));
    if (tree.computeRoot() !== root)
      throwEvidenceError('the log is not that of its checkpoint: see "verify"');
  }
}

/** Returns the newest checkpoint that was signed at or before the instant `at`; null if there is none. Searches by bisection. */
async function findCheckpoint(port: EvidencePort, at: number): Promise<Checkpoint | null> {
  let size = 0;
  for (let step = 2 ** 52; step >= 1; step /= 2) {
    const known = await port.findCheckpoint(size + step);
    if (known === null || Date.parse(getSignedAt(known.note)) <= at) size += step;
  }
  return await port.findCheckpoint(size);
}

/**
 * Returns true if the row version of a change leaf belongs to the period, organization or retirement that is exported. Does not check the
 * organization, because callers pass only leaves of exported organizations.
 */
function isInScope({ kind, value, numbers }: ExportScope, leaf: Leaf): boolean {
  if (kind === 'period') return listMonthKeys(leaf).some(key => key.split(' ')[2]?.startsWith(value));
  return kind === 'organization' || numbers.includes(leaf.number);
}

/** Returns the list of a row version and the month in which the mirror observed it, such as "retirements 2025-05". */
function formatObservedMonth({ resource, observed }: Leaf): string {
  return `${resource} ${observed}`;
}
