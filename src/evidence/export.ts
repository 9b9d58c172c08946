import { type TreeHead, parseTreeHead, getSignedAt } from './checkpoint.js';
import { toCanonicalJson, isCommittedTo } from './leaf.js';
import {
  listMonthGroups,
  createCompleteObservation,
  createOrganizationObservation,
  readCompleteLeaf,
  readMonths,
  readNamedLeaves,
} from './completeness-leaves.js';
import { refuse } from './evidence-error.js';
import { createEvidenceLines } from './evidence-lines.js';
import { toHex } from './hashes.js';
import { NO_LIMIT, type Checkpoint, type EvidencePort, type Leaf, type Observation } from './port.js';
import { listProofNodes } from './proof.js';
import { readSealedReads } from './sealed-reads.js';
import { EMPTY_TREE, createMerkleTree } from './tree.js';

/** What is exported: all rows dated or observed in a period, all rows of an organization, or one retirement. */
export interface ExportScope {
  readonly kind: 'period' | 'organization' | 'retirement';
  /** The period, or the id of the organization or retirement. */
  readonly value: string;
  /** The organization whose rows are exported; null for all. */
  readonly organizationId: string | null;
  /** For a retirement, the changes of all its versions, of its end and of its certificate. */
  readonly numbers: readonly number[];
}

export interface ExportRequest {
  readonly port: EvidencePort;
  readonly scope: ExportScope;
  /** An instant in milliseconds; null for the newest checkpoint. */
  readonly asOf: number | null;
  /** The older checkpoint from which the log must continue. */
  readonly since: TreeHead | null;
  /** Whether to name the known organizations that have nothing else in the folder. */
  readonly nameOthers: boolean;
  /** Adds the certificate of a row to the folder. */
  readonly addCertificate: (observation: Observation) => Promise<void>;
}

/**
 * Collects the lines of evidence.jsonl. Returns them with the checkpoint and the number of exported rows and retirements.
 * Every line is compared with its leaf, so that nothing is exported that was changed after it was sealed.
 */
export async function exportEvidence({
  port,
  scope,
  asOf,
  since,
  nameOthers,
  addCertificate,
}: ExportRequest) {
  const checkpoint = (await findCheckpoint(port, asOf ?? Infinity)) ?? refuse('nothing was sealed by then');
  const { size } = checkpoint;
  const last = await readCompleteLeaf(port, size);
  if (last.leaf?.place !== size - 1) refuse('the checkpoint does not say what is complete');
  const upTo = last.fields.up_to;
  const named = await readNamedLeaves(port, last.place);
  const lines = createEvidenceLines();
  const places = new Set<number>();
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
  const monthsOfVersions = new Set(versions.map(getObservedGroup));
  for (const leaf of named.organizations.filter(concerns)) {
    const organizationId = String(leaf.subject);
    const { text, totals } = await readMonths(port, organizationId, upTo);
    await show('leaf', leaf, await createOrganizationObservation(port, organizationId, leaf.place, totals));
    addMonths(leaf, text);
    const reads = await readSealedReads(port, organizationId, leaf.place);
    lines.addSealed('reads', reads.text, { reads_of: leaf.place }, ['reads_of', 'list']);
    await showCurrentRows(organizationId, leaf.place);
  }
  for (const version of versions) await showChanges('leaf', [version]);
  await showNamed(last, named);
  if (since !== null) await showOlderCounts(since.size);
  await showSyncs();
  const coverage = nameOthers ? named.coverage : named.coverage.filter(concerns);
  for (const leaf of [...named.aboutLog, ...coverage]) await addLeaf('leaf', leaf, leaf.record ?? '');
  await addNodes(parseTreeHead(checkpoint.note));
  return { checkpoint, lines, rows, retirements };

  function concerns({ subject }: Leaf): boolean {
    return scope.organizationId === null || scope.organizationId === subject;
  }

  /** Adds a leaf with its record, unless it is there already. Refuses a record that is not the sealed one. */
  async function addLeaf(kind: 'row' | 'leaf', leaf: Leaf, text: string): Promise<boolean> {
    if (!isCommittedTo(leaf, text)) await refuseLeaf(leaf);
    if (places.has(leaf.place)) return false;
    places.add(leaf.place);
    lines.addLeaf(kind, leaf, text);
    return true;
  }

  /** Says why a leaf cannot be shown. An erasure after the checkpoint also changes which leaves are named. */
  async function refuseLeaf({ kind, number, salt }: Leaf): Promise<never> {
    const aboutLog =
      salt === null || kind === 'complete' ? await port.listLeaves({ aboutLogBefore: NO_LIMIT }) : [];
    const erased = aboutLog.find(each => each.place >= size && ['forget', 'purge'].includes(each.kind));
    return refuse(
      erased === undefined
        ? `${kind} ${number} is not as it was sealed: see "verify"`
        : `rows were erased by a ${erased.kind} after the checkpoint of ${getSignedAt(checkpoint.note)}, so it cannot be shown completely any more. Export the current state`,
    );
  }

  async function show(kind: 'row' | 'leaf', leaf: Leaf, observation: Observation): Promise<void> {
    const { record, document } = observation;
    if (!(await addLeaf(kind, leaf, toCanonicalJson(record)))) return;
    for (const id of [record['sync_id'], record['ended_by']]) if (id != null) syncs.add(Number(id));
    if (document !== null) lines.addDocument(document);
    await addCertificate(observation);
    if (kind === 'row') rows += 1;
    if (kind === 'row' && observation.resource === 'retirements') retirements += 1;
  }

  /** Shows changes of one resource, or those of them that are selected. Returns their observations. */
  async function showChanges(
    kind: 'row' | 'leaf',
    leaves: readonly Leaf[],
    isSelected: (observation: Observation) => boolean = () => true,
  ): Promise<readonly Observation[]> {
    const numbers = leaves.map(({ number }) => number);
    const observations = await port.listVersions(leaves[0]?.resource ?? '', numbers);
    const byNumber = new Map(observations.map(observation => [observation.number, observation]));
    for (const leaf of leaves) {
      const observation =
        byNumber.get(leaf.number) ?? refuse(`change ${leaf.number} is missing: see "verify"`);
      if (isSelected(observation)) await show(kind, leaf, observation);
    }
    return observations;
  }

  /** Exports the current rows of an organization that are in the scope. For a period, also the certificates of its retirements. */
  async function showCurrentRows(organizationId: string, organizationPlace: number): Promise<void> {
    const retirementIds = new Set<unknown>();
    for await (const batch of port.iterateCurrentLeaves(organizationId, upTo)) {
      const others = batch.filter(leaf => !isInScope(scope, leaf));
      const shown = await showChanges(
        'row',
        batch.filter(leaf => isInScope(scope, leaf)),
      );
      for (const { resource, record } of shown)
        if (resource === 'retirements') retirementIds.add(record['id']);
      if (batch[0]?.resource === 'certificates' && scope.kind === 'period')
        await showChanges('leaf', others, ({ record }) => retirementIds.has(record['retirement_id']));
      for (const leaf of others)
        if (monthsOfVersions.has(getObservedGroup(leaf))) addHiddenRow(organizationPlace, leaf);
    }
  }

  function addHiddenRow(place: number, { resource, observed, number, commitment }: Leaf): void {
    const [list, month] = [String(resource), String(observed)];
    lines.add('hidden', [place, list, month, number], {
      commitment: toHex(commitment),
      hidden: place,
      list,
      month,
      version: number,
    });
  }

  function addMonths({ place }: Leaf, text: string): void {
    const key = ['months_of', 'list', 'dated_by', 'month'];
    lines.addSealed('months', text, { months_of: place }, key);
  }

  /** Shows the last leaf of a checkpoint, with the lines that name other leaves. */
  async function showNamed(
    { leaf, place, fields }: Awaited<ReturnType<typeof readCompleteLeaf>>,
    namedLeaves: Awaited<ReturnType<typeof readNamedLeaves>>,
  ): Promise<void> {
    if (leaf === undefined || places.has(place)) return;
    await show('leaf', leaf, createCompleteObservation(namedLeaves, fields));
    lines.addSealed('named', namedLeaves.text, { named_by: place }, ['named_by', 'named']);
  }

  /**
   * Shows what the older checkpoint counted in the scope, and how each row ended that is not current any more. What cannot be
   * shown because it was erased since is left out, and the checker says so.
   */
  async function showOlderCounts(olderSize: number): Promise<void> {
    if (scope.kind === 'retirement') return;
    const older = await readCompleteLeaf(port, olderSize);
    /** `addNodes` refuses an older checkpoint of another log. */
    if (older.leaf?.place !== olderSize - 1) return;
    const olderNamed = await readNamedLeaves(port, older.place);
    const observation = createCompleteObservation(olderNamed, older.fields);
    if (!isCommittedTo(older.leaf, toCanonicalJson(observation.record))) return;
    await showNamed(older, olderNamed);
    const endedVersions = new Set<number>();
    for (const leaf of olderNamed.organizations.filter(concerns))
      await showOlderOrganization(leaf, older.fields.up_to, endedVersions);
    for await (const leaves of port.iterateLeaves(olderSize, size))
      for (const leaf of leaves)
        if (leaf.kind === 'change' && endedVersions.has(leaf.ended ?? -1)) await showChanges('leaf', [leaf]);
  }

  async function showOlderOrganization(
    leaf: Leaf,
    olderUpTo: number,
    endedVersions: Set<number>,
  ): Promise<void> {
    const organizationId = String(leaf.subject);
    const { text, totals } = await readMonths(port, organizationId, olderUpTo);
    const observation = await createOrganizationObservation(port, organizationId, leaf.place, totals);
    if (!isCommittedTo(leaf, toCanonicalJson(observation.record))) return;
    if (!places.has(leaf.place)) {
      await show('leaf', leaf, observation);
      addMonths(leaf, text);
    }
    for await (const batch of port.iterateCurrentLeaves(organizationId, olderUpTo)) {
      const ended = batch.filter(each => isInScope(scope, each) && !places.has(each.place));
      for (const { number } of ended) endedVersions.add(number);
      await showChanges('leaf', ended);
    }
  }

  /** Shows the syncs that observed the shown rows, except those that retention deleted. */
  async function showSyncs(): Promise<void> {
    for (const leaf of await port.listLeaves({ kind: 'sync', numbers: [...syncs] })) {
      const [observation] = await port.listObservations('sync', leaf.number - 1, leaf.number);
      if (leaf.salt !== null && leaf.place < size && observation !== undefined)
        await show('leaf', leaf, observation);
    }
  }

  /** Adds the nodes of the tree that cannot be computed from the shown leaves, and compares the tree with its checkpoint. */
  async function addNodes({ root }: TreeHead): Promise<void> {
    const olderSize = since?.size ?? 0;
    if (olderSize > size) refuse(`the older checkpoint has ${olderSize} leaves, and this one ${size}`);
    const needed = listProofNodes(places, olderSize, size);
    const tree = createMerkleTree(EMPTY_TREE, (level, index, hash) => {
      if (needed.has(`${level} ${index}`))
        lines.add('node', [level, index], { hash: toHex(hash), index, level });
    });
    await tree.grow(port.iterateCommitments(0, olderSize));
    if (since !== null && tree.root() !== since.root)
      refuse('the log does not continue from the older checkpoint: it is of another log');
    await tree.grow(port.iterateCommitments(olderSize, size));
    if (tree.root() !== root) refuse('the log is not that of its checkpoint: see "verify"');
  }
}

/** Returns the newest checkpoint that was signed by an instant. */
async function findCheckpoint(port: EvidencePort, at: number): Promise<Checkpoint | null> {
  let size = 0;
  for (let step = 2 ** 52; step >= 1; step /= 2) {
    const known = await port.findCheckpoint(size + step);
    if (known === null || Date.parse(getSignedAt(known.note)) <= at) size += step;
  }
  return await port.findCheckpoint(size);
}

function isInScope({ kind, value, numbers }: ExportScope, leaf: Leaf): boolean {
  if (kind === 'period') return listMonthGroups(leaf).some(group => group.split(' ')[2]?.startsWith(value));
  return kind === 'organization' || numbers.includes(leaf.number);
}

/** Returns the list and month in which the mirror observed a row. */
function getObservedGroup({ resource, observed }: Leaf): string {
  return `${resource} ${observed}`;
}
