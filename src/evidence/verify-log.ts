import { countUnsealedChanges } from './sealing-checks.js';
import { isAuthentic } from './authentication-codes.js';
import { parseTreeHead } from './checkpoint.js';
import { toCanonicalJson, isNumberedKind, createLeafContent, parseLeafRecord } from './leaf.js';
import {
  createCheckpointLeafInput,
  createOrganizationLeafInput,
  readCheckpointLeaf,
  computeMonthlyTotals,
  readNamedLeaves,
} from './completeness-leaves.js';
import { type SigningKey } from './signing-key.js';
import { openNote } from './signed-note.js';
import {
  NO_LIMIT,
  type LeafInput,
  createLeafInput,
  type Leaf,
  NUMBERED_KINDS,
  type NumberedKind,
  COUNTING_COLUMNS,
} from './port.js';
import { readSigners } from './renew-key.js';
import type { Sealer } from './log-writer.js';
import { isTimestampOf } from './timestamp.js';
import { EMPTY_TREE, createMerkleTree } from './tree.js';
import { hashErasedIndexes, HASH_OF_NO_ERASURES } from './erase-leaves.js';

/** A contradiction between the evidence log and the mirror, or within the log. */
interface LogFault {
  /** What has the fault, such as "change 12" or "checkpoint of 40 leaves". */
  readonly where: string;
  readonly fault: string;
}

/** The result of verifying an evidence log. The log is sound if `faults` is empty. */
export interface LogVerification {
  /** The number of leaves. */
  readonly leaves: number;
  /** The number of leaves that `forget` or `purge` erased. */
  readonly erased: number;
  /** The number of sealed syncs that the mirror has deleted because they were old. */
  readonly removed: number;
  /** The mirror may have deleted syncs that ended before this instant; null if it never deleted any. */
  readonly syncsKeptSince: string | null;
  /** The tree size of the newest checkpoint. */
  readonly covered: number;
  /** The number of changes that are not sealed yet. */
  readonly waiting: number;
  readonly faults: readonly LogFault[];
}

/** Instants may differ by this much, because a clock may have been set back. */
const CLOCK_LEEWAY_MS = 86_400_000;
// Texts of faults.
const CHANGED_RECORD_FAULT = 'it is not as it was sealed';
const CHANGED_LEAF_FAULT = 'it is not as this program wrote it';
const FOREIGN_LEAF_FAULT =
  'this program did not write it, so nothing is signed until "carbon-mirror evidence discard" removes it';
/** The columns of a leaf that are derived from its record, so they must agree with it. */
const RECORDED_COLUMNS = [...COUNTING_COLUMNS, 'number', 'record'] as const;

/**
 * Verifies the evidence log on this machine: compares each leaf with the mirror and its authentication codes, all checkpoints
 * with the tree, and the sealed totals with the rows. Writes nothing. Faults are returned, not thrown.
 */
export async function verifyLogAgainstMirror(
  verifier: Pick<Sealer, 'port' | 'lastSigned'> & { readonly key: SigningKey },
): Promise<LogVerification> {
  const { port, key, lastSigned } = verifier;
  const faults: LogFault[] = [];
  let [erased, removed, accounted, covered, next] = [0, 0, 0, 0, 0];
  /** No number is below 1, unless somebody made it up. */
  const compared = {
    change: Number.MIN_SAFE_INTEGER,
    sync: Number.MIN_SAFE_INTEGER,
    unchanged: Number.MIN_SAFE_INTEGER,
  };
  /** Read before the size of the log, which grows first. */
  const [last, newest] = [lastSigned.read(), await port.findCheckpoint(NO_LIMIT)];
  const signerOf = await readSigners(port, key);
  const tokens = new Map((await port.listTimestamps()).map(each => [each.size, each.token]));
  const tree = createMerkleTree(EMPTY_TREE);
  /** Places of leaves that have a fault. */
  const faulty = new Set<number>();
  /** Leaves that this program did not write with this key. */
  const foreign: LogFault[] = [];
  let isKeyKnown = false;
  const checkpointSizes = new Set<number>();
  const previousSizes = new Set<number>();
  /** The instant of the newest checkpoint so far. */
  let sealedAt = '';
  let erasedDigest = HASH_OF_NO_ERASURES;
  let syncsKeptSince: string | null = null;
  /** When the newest sync so far that is still there began: those with higher numbers ended later. */
  let syncStart = -Infinity;
  const progress = await port.readProgress();
  const { size } = progress;
  for await (const leaves of port.iterateLeaves(Number.MIN_SAFE_INTEGER, size)) {
    const previousCheckpointInstants = mapPreviousCheckpointInstants(leaves);
    for (const kind of NUMBERED_KINDS) await compareWithMirror(kind, leaves, previousCheckpointInstants);
    for (const leaf of leaves) checkStoredRecord(leaf);
    await checkTree(leaves.filter(({ place }) => place >= 0));
    for (const leaf of leaves) checkCodes(leaf);
  }
  if (erased !== accounted)
    reportFault(`${erased} leaves without salt`, `forget and purge erased ${accounted}`);
  else if (faults.length + foreign.length === 0 && (await hashErasedIndexes(port)) !== erasedDigest)
    reportFault(`${erased} leaves without salt`, 'forget and purge erased other leaves');
  if (foreign.length > 0 && !isKeyKnown)
    reportFault(`${foreign.length} leaves`, 'their authentication codes were made with another key');
  else faults.push(...foreign);
  for (const each of previousSizes)
    if (!checkpointSizes.has(each))
      reportCheckpointFault(each, 'a later one follows it, and it is not there');
  if (faults.length === 0) await checkTotals();
  for (const signed of [last, newest])
    if (signed !== null && signed.size > size)
      reportCheckpointFault(signed.size, `it was signed, and only ${size} leaves are there`);
  const { changes: waiting } = await countUnsealedChanges(port, progress);
  return { leaves: size, covered, waiting, erased, removed, syncsKeptSince, faults };

  /**
   * Maps the index of each leaf, except checkpoint leaves, to the instant of the last checkpoint before this leaf. The batches of leaves
   * must come in order, because the instant is remembered from one batch to the next.
   */
  function mapPreviousCheckpointInstants(leaves: readonly Leaf[]): ReadonlyMap<number, string> {
    const found = new Map<number, string>();
    for (const leaf of leaves) {
      if (leaf.kind === 'complete') sealedAt = String(parseLeafRecord(leaf)['sealed_at'] ?? '');
      else found.set(leaf.place, sealedAt);
    }
    return found;
  }

  /**
   * Counts the leaf as erased if it has no salt. Otherwise, if the leaf stores its own record, reports a fault if this record was changed.
   * Remembers two facts that can be checked only after the last leaf: the size of the previous checkpoint (from a checkpoint leaf), and
   * which leaves were erased (from a leaf about an erasure).
   */
  function checkStoredRecord(leaf: Leaf): void {
    const record = parseLeafRecord(leaf);
    if (leaf.salt === null) erased += 1;
    else if (isNumberedKind(leaf.kind)) return;
    else if (!isLeafOf(leaf, toLeafInput(leaf)))
      reportLeafFault(leaf, `${leaf.kind} ${leaf.number}`, CHANGED_RECORD_FAULT);
    else if (leaf.kind === 'complete') {
      const previous = Number(record['previous_size'] ?? 0);
      if (previous > 0) previousSizes.add(previous);
    } else {
      accounted += Number(record['leaves'] ?? 0);
      erasedDigest = String(record['erased_sha256'] ?? erasedDigest);
    }
  }

  /** Checks the authentication codes of a leaf, unless the leaf already has a fault. */
  function checkCodes(leaf: Leaf): void {
    if (faulty.has(leaf.place)) return;
    if (isAuthentic(leaf, key.codeKeys)) {
      isKeyKnown = true;
      return;
    }
    const isSigned = leaf.place >= 0 && leaf.place < Math.max(last?.size ?? 0, newest?.size ?? 0);
    const where = `leaf ${leaf.place} (${leaf.kind} ${leaf.number})`;
    foreign.push({ where, fault: isSigned ? CHANGED_LEAF_FAULT : FOREIGN_LEAF_FAULT });
  }

  /** Counts the rows and reads of each organization again, and checks which leaves the newest checkpoint leaf names. */
  async function checkTotals(): Promise<void> {
    const { leaf: complete, place, fields } = await readCheckpointLeaf(port, size);
    if (complete === undefined) return;
    const listed = await readNamedLeaves(port, place);
    for (const leaf of listed.organizations) {
      const organizationId = String(leaf.subject);
      const { totals } = await computeMonthlyTotals(port, organizationId, fields.up_to);
      const input = await createOrganizationLeafInput(port, organizationId, leaf.place, totals);
      if (toCanonicalJson(input.record) !== leaf.record && !(await wasErasedAfter(place)))
        reportFault(`organization ${leaf.number}`, 'its totals are not those of the sealed rows and reads');
    }
    const { record } = createCheckpointLeafInput(listed, fields);
    if (toCanonicalJson(record) !== complete.record && !(await wasErasedAfter(place)))
      reportFault(`complete ${place}`, 'it lists other leaves than are there');
  }

  /** Returns true if leaves were erased after a leaf index, so that totals up to there can no longer be counted. */
  async function wasErasedAfter(leafIndex: number): Promise<boolean> {
    const logEvents = await port.listLeaves({ logEventsBefore: NO_LIMIT });
    return logEvents.some(
      leaf => leaf.place > leafIndex && (leaf.kind === 'forget' || leaf.kind === 'purge'),
    );
  }

  /**
   * Compares the leaves of a kind in a batch with the records of the mirror. Batches must come in order: a batch is compared with the
   * records whose numbers come after those of the previous batch.
   */
  async function compareWithMirror(
    kind: NumberedKind,
    batch: readonly Leaf[],
    previousCheckpointInstants: ReadonlyMap<number, string>,
  ): Promise<void> {
    const leaves = batch.filter(leaf => leaf.kind === kind);
    const to = leaves.reduce((most, { number }) => Math.max(most, number), compared[kind]);
    const inputs = await port.listNumberedInputs(kind, compared[kind], to);
    /** Read after the syncs: a worker may remove some meanwhile. */
    if (kind === 'sync') syncsKeptSince = await port.readSyncsKeptSince();
    compared[kind] = to;
    const byNumber = new Map(inputs.map(input => [input.number, input]));
    for (const leaf of leaves) {
      const input = byNumber.get(leaf.number);
      byNumber.delete(leaf.number);
      const where = `${kind} ${leaf.number}`;
      if (leaf.salt === null) {
        if (input !== undefined)
          reportLeafFault(leaf, where, 'its salt is erased, and it is there still: forget or purge again');
      } else if (input === undefined && kind === 'sync' && mayBeDeletedAsOld()) removed += 1;
      else if (input === undefined)
        reportLeafFault(leaf, where, `it was sealed${formatResource(leaf)}, and is not there`);
      else if (!isLeafOf(leaf, input))
        reportLeafFault(leaf, where, `${CHANGED_RECORD_FAULT}${formatRowName(input)}`);
      else if (kind === 'change')
        checkSealedInTime(where, input, previousCheckpointInstants.get(leaf.place) ?? '');
      else if (kind === 'sync') syncStart = Date.parse(String(input.record['started_at']));
    }
    for (const [number, input] of byNumber)
      reportFault(
        `${kind} ${number}`,
        `it is older than what is sealed, and was never sealed${formatRowName(input)}`,
      );
  }

  /**
   * Reports a change that was sealed after a checkpoint although the change was observed long before that checkpoint, according to its own
   * record. Changes are sealed within a minute, so such a change may have been invented.
   */
  function checkSealedInTime(where: string, change: LeafInput, checkpointAt: string): void {
    const observedAt = String(change.record['valid_from'] ?? change.record['ended_at']);
    if (Date.parse(observedAt) < Date.parse(checkpointAt) - CLOCK_LEEWAY_MS)
      reportFault(
        where,
        `it was sealed after the checkpoint of ${checkpointAt}, but says that it was observed at ${observedAt}${formatRowName(change)}`,
      );
  }

  /** Returns true if a sync that is missing behind the last compared one may have been deleted because it was old. */
  function mayBeDeletedAsOld(): boolean {
    return syncsKeptSince !== null && syncStart - CLOCK_LEEWAY_MS < Date.parse(syncsKeptSince);
  }

  /** Appends the next leaves to the tree, and compares it with each checkpoint and timestamp on the way. */
  async function checkTree(leaves: readonly Leaf[]): Promise<void> {
    const to = Number(leaves.at(-1)?.place) + 1;
    const notes = new Map((await port.listCheckpoints(next, to)).map(each => [each.size, each.note]));
    for (const { place, commitment } of leaves) {
      if (place > next) reportFault(`leaves from ${next} to ${place - 1}`, 'they are not there');
      tree.append(commitment);
      next = place + 1;
      const note = notes.get(next);
      if (note !== undefined) checkpointSizes.add(next);
      if (note !== undefined) checkNote(next, note, tree.computeRoot());
      const token = tokens.get(next) ?? null;
      if (token !== null && !isTimestampOf(token, note ?? ''))
        reportCheckpointFault(next, 'its timestamp is about another text');
      if (note !== undefined) covered = next;
      if (last?.size === next && last.root !== tree.computeRoot())
        reportCheckpointFault(next, 'what was signed last is of another log');
    }
  }

  /** Checks the signature, the size and the root of the checkpoint that is stored for a tree size. */
  function checkNote(treeSize: number, note: string, root: string): void {
    const text = openNote(note, signerOf(treeSize));
    if (text === null) return reportCheckpointFault(treeSize, 'it is not signed by the key of that time');
    const head = parseTreeHead(text);
    if (head.size !== treeSize || head.root !== root)
      reportCheckpointFault(treeSize, 'it is the checkpoint of another log');
  }

  function reportCheckpointFault(treeSize: number, fault: string): void {
    reportFault(`checkpoint of ${treeSize} leaves`, fault);
  }

  /** Reports a fault of a leaf, and marks the leaf as faulty. The authentication codes of faulty leaves are not checked. */
  function reportLeafFault({ place }: Leaf, where: string, fault: string): void {
    faulty.add(place);
    reportFault(where, fault);
  }

  function reportFault(where: string, fault: string): void {
    faults.push({ where, fault });
  }
}

/** Returns the resource of a change in brackets, such as " (retirements)". Returns an empty text for a leaf that is not about a change. */
function formatResource({ kind, resource }: Leaf): string {
  return kind === 'change' ? ` (${resource})` : '';
}

/**
 * Returns the resource and id of a changed row as a part of a message, such as ": retirements 5c1". Returns an empty text if the input is
 * not about a change.
 */
function formatRowName({ kind, resource, record }: LeafInput): string {
  const id = record['id'] ?? record['credit_id'] ?? record['retirement_id'];
  return kind === 'change' ? `: ${resource} ${id}` : '';
}

/** Returns true if a leaf has the columns and the commitment that the sealer writes for an input. */
function isLeafOf(leaf: Leaf, input: LeafInput): boolean {
  const { salt, place, commitment } = leaf;
  const expected = createLeafContent(input, salt ?? Buffer.of(), place);
  return (
    RECORDED_COLUMNS.every(name => leaf[name] === expected[name]) &&
    Buffer.compare(expected.commitment, commitment) === 0
  );
}

/**
 * Creates again the input from which a leaf was made. The leaf must store its own record, as all kinds do except `change`, `sync` and
 * `unchanged`.
 */
function toLeafInput(leaf: Leaf): LeafInput {
  const record = parseLeafRecord(leaf);
  const owner = record['organization_id'] ?? record['installation_id'] ?? null;
  const subject = owner === null ? null : String(owner);
  if (leaf.kind !== 'open_span') return createLeafInput(leaf.kind, record, { subject });
  const [resource, read_at] = [String(record['resource']), String(record['last_started_at'])];
  return createLeafInput(leaf.kind, record, { subject, resource, read_at, is_complete: 1 });
}
