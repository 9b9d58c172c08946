import { findUnsealedChanges } from './sealing-checks.js';
import { isAuthentic } from './authentication-codes.js';
import { parseTreeHead } from './checkpoint.js';
import { toCanonicalJson, isNumberedKind, createLeafContent, parseLeafRecord } from './leaf.js';
import {
  createCompleteObservation,
  createOrganizationObservation,
  readCompleteLeaf,
  readMonths,
  readNamedLeaves,
} from './completeness-leaves.js';
import { type SigningKey } from './signing-key.js';
import { openNote } from './signed-note.js';
import {
  NO_LIMIT,
  type Observation,
  createObservation,
  type Leaf,
  NUMBERED_KINDS,
  type NumberedKind,
  PLAIN_COLUMNS,
} from './port.js';
import { readSigners } from './renew-key.js';
import type { Sealing } from './log-writer.js';
import { isTimestampOf } from './timestamp.js';
import { EMPTY_TREE, createMerkleTree } from './tree.js';
import { hashErasedPlaces, NOTHING_ERASED } from './erase-leaves.js';

/** A difference between the log and the mirror, or within the log. */
interface LogFault {
  readonly where: string;
  readonly fault: string;
}

export interface VerifiedLog {
  readonly leaves: number;
  /** Leaves whose salt was erased with what they speak of. */
  readonly erased: number;
  /** Syncs that were sealed and removed once they were old. */
  readonly removed: number;
  /** Syncs that ended before this instant may have been removed; null where none was. */
  readonly syncsKeptSince: string | null;
  /** How many leaves the newest checkpoint covers. */
  readonly covered: number;
  /** Changes that no leaf speaks of yet. */
  readonly waiting: number;
  readonly faults: readonly LogFault[];
}

/** A clock may be set back by so much. */
const CLOCK_LEEWAY_MS = 86_400_000;
const NOT_AS_SEALED = 'it is not as it was sealed';
const NOT_WRITTEN = 'it is not as this program wrote it';
const NOT_WRITTEN_BY_PROGRAM =
  'this program did not write it, so nothing is signed until "carbon-mirror evidence discard" removes it';
/** Columns of a leaf that must agree with its record. */
const RECORDED_COLUMNS = [...PLAIN_COLUMNS, 'number', 'record'] as const;

/** Compares the mirror with the log, and the log with every checkpoint and with its own totals. */
export async function verifyEvidence(
  verifying: Pick<Sealing, 'port' | 'lastSigned'> & { readonly key: SigningKey },
): Promise<VerifiedLog> {
  const { port, key, lastSigned } = verifying;
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
  let erasedDigest = NOTHING_ERASED;
  let syncsKeptSince: string | null = null;
  /** When the newest sync so far that is still there began: those with higher numbers ended later. */
  let syncStart = -Infinity;
  const progress = await port.readProgress();
  const { size } = progress;
  for await (const leaves of port.iterateLeaves(Number.MIN_SAFE_INTEGER, size)) {
    const sealedBefore = findSealedBefore(leaves);
    for (const kind of NUMBERED_KINDS) await compareRows(kind, leaves, sealedBefore);
    for (const leaf of leaves) countLeaf(leaf);
    await compareTrees(leaves.filter(({ place }) => place >= 0));
    for (const leaf of leaves) checkCodes(leaf);
  }
  if (erased !== accounted)
    reportFault(`${erased} leaves without salt`, `forget and purge erased ${accounted}`);
  else if (faults.length + foreign.length === 0 && (await hashErasedPlaces(port)) !== erasedDigest)
    reportFault(`${erased} leaves without salt`, 'forget and purge erased other leaves');
  if (foreign.length > 0 && !isKeyKnown)
    reportFault(`${foreign.length} leaves`, 'their authentication codes were made with another key');
  else faults.push(...foreign);
  for (const each of previousSizes)
    if (!checkpointSizes.has(each)) reportTreeFault(each, 'a later one follows it, and it is not there');
  if (faults.length === 0) await compareTotals();
  for (const signed of [last, newest])
    if (signed !== null && signed.size > size)
      reportTreeFault(signed.size, `it was signed, and only ${size} leaves are there`);
  const { changes: waiting } = await findUnsealedChanges(port, progress);
  return { leaves: size, covered, waiting, erased, removed, syncsKeptSince, faults };

  /** Returns the instant of the newest checkpoint before each change. */
  function findSealedBefore(leaves: readonly Leaf[]): ReadonlyMap<number, string> {
    const found = new Map<number, string>();
    for (const leaf of leaves) {
      if (leaf.kind === 'complete') sealedAt = String(parseLeafRecord(leaf)['sealed_at'] ?? '');
      else found.set(leaf.place, sealedAt);
    }
    return found;
  }

  function countLeaf(leaf: Leaf): void {
    const record = parseLeafRecord(leaf);
    if (leaf.salt === null) erased += 1;
    else if (isNumberedKind(leaf.kind)) return;
    else if (!isSealedAs(leaf, toObservation(leaf)))
      reportLeafFault(leaf, `${leaf.kind} ${leaf.number}`, NOT_AS_SEALED);
    else if (leaf.kind === 'complete') {
      const previous = Number(record['previous_size'] ?? 0);
      if (previous > 0) previousSizes.add(previous);
    } else {
      accounted += Number(record['leaves'] ?? 0);
      erasedDigest = String(record['erased_sha256'] ?? erasedDigest);
    }
  }

  function checkCodes(leaf: Leaf): void {
    if (faulty.has(leaf.place)) return;
    if (isAuthentic(leaf, key.codeKeys)) {
      isKeyKnown = true;
      return;
    }
    const isSigned = leaf.place >= 0 && leaf.place < Math.max(last?.size ?? 0, newest?.size ?? 0);
    const where = `leaf ${leaf.place} (${leaf.kind} ${leaf.number})`;
    foreign.push({ where, fault: isSigned ? NOT_WRITTEN : NOT_WRITTEN_BY_PROGRAM });
  }

  /** Counts the rows and reads of each organization again, and compares the list of leaves that a folder must not omit. */
  async function compareTotals(): Promise<void> {
    const { leaf: complete, place, fields } = await readCompleteLeaf(port, size);
    if (complete === undefined) return;
    const listed = await readNamedLeaves(port, place);
    for (const leaf of listed.organizations) {
      const organizationId = String(leaf.subject);
      const { totals } = await readMonths(port, organizationId, fields.up_to);
      const observation = await createOrganizationObservation(port, organizationId, leaf.place, totals);
      if (toCanonicalJson(observation.record) !== leaf.record && !(await wasErasedAfter(place)))
        reportFault(`organization ${leaf.number}`, 'its totals are not those of the sealed rows and reads');
    }
    const { record } = createCompleteObservation(listed, fields);
    if (toCanonicalJson(record) !== complete.record && !(await wasErasedAfter(place)))
      reportFault(`complete ${place}`, 'it lists other leaves than are there');
  }

  /** Whether rows were erased after a checkpoint, so that its totals can no longer be counted. */
  async function wasErasedAfter(place: number): Promise<boolean> {
    const aboutLog = await port.listLeaves({ aboutLogBefore: NO_LIMIT });
    return aboutLog.some(leaf => leaf.place > place && (leaf.kind === 'forget' || leaf.kind === 'purge'));
  }

  async function compareRows(
    kind: NumberedKind,
    all: readonly Leaf[],
    sealedBefore: ReadonlyMap<number, string>,
  ): Promise<void> {
    const leaves = all.filter(leaf => leaf.kind === kind);
    const to = leaves.reduce((most, { number }) => Math.max(most, number), compared[kind]);
    const observations = await port.listObservations(kind, compared[kind], to);
    /** Read after the syncs: a worker may remove some meanwhile. */
    if (kind === 'sync') syncsKeptSince = await port.readSyncsKeptSince();
    compared[kind] = to;
    const byNumber = new Map(observations.map(observation => [observation.number, observation]));
    for (const leaf of leaves) {
      const observation = byNumber.get(leaf.number);
      byNumber.delete(leaf.number);
      const where = `${kind} ${leaf.number}`;
      if (leaf.salt === null) {
        if (observation !== undefined)
          reportLeafFault(leaf, where, 'its salt is erased, and it is there still: forget or purge again');
      } else if (observation === undefined && kind === 'sync' && mayBeOld()) removed += 1;
      else if (observation === undefined)
        reportLeafFault(leaf, where, `it was sealed${getListName(leaf)}, and is not there`);
      else if (!isSealedAs(leaf, observation))
        reportLeafFault(leaf, where, `${NOT_AS_SEALED}${getRowName(observation)}`);
      else if (kind === 'change') compareInstants(where, observation, sealedBefore.get(leaf.place) ?? '');
      else if (kind === 'sync') syncStart = Date.parse(String(observation.record['started_at']));
    }
    for (const [number, observation] of byNumber)
      reportFault(
        `${kind} ${number}`,
        `it is older than what is sealed, and was never sealed${getRowName(observation)}`,
      );
  }

  /** A row is sealed within a minute of its observation. One that appears much later may have been made up. */
  function compareInstants(where: string, observation: Observation, checkpointAt: string): void {
    const observedAt = String(observation.record['valid_from'] ?? observation.record['ended_at']);
    if (Date.parse(observedAt) < Date.parse(checkpointAt) - CLOCK_LEEWAY_MS)
      reportFault(
        where,
        `it was sealed after the checkpoint of ${checkpointAt}, but says that it was observed at ${observedAt}${getRowName(observation)}`,
      );
  }

  /** Whether a sync that is missing here may have been removed because it was old. */
  function mayBeOld(): boolean {
    return syncsKeptSince !== null && syncStart - CLOCK_LEEWAY_MS < Date.parse(syncsKeptSince);
  }

  async function compareTrees(leaves: readonly Leaf[]): Promise<void> {
    const to = Number(leaves.at(-1)?.place) + 1;
    const notes = new Map((await port.listCheckpoints(next, to)).map(each => [each.size, each.note]));
    for (const { place, commitment } of leaves) {
      if (place > next) reportFault(`leaves from ${next} to ${place - 1}`, 'they are not there');
      tree.add(commitment);
      next = place + 1;
      const note = notes.get(next);
      if (note !== undefined) checkpointSizes.add(next);
      if (note !== undefined) compareNote(next, note, tree.root());
      const token = tokens.get(next) ?? null;
      if (token !== null && !isTimestampOf(token, note ?? ''))
        reportTreeFault(next, 'its timestamp is about another text');
      if (note !== undefined) covered = next;
      if (last?.size === next && last.root !== tree.root())
        reportTreeFault(next, 'what was signed last is of another log');
    }
  }

  function compareNote(at: number, note: string, root: string): void {
    const text = openNote(note, signerOf(at));
    if (text === null) return reportTreeFault(at, 'it is not signed by the key of that time');
    const head = parseTreeHead(text);
    if (head.size !== at || head.root !== root) reportTreeFault(at, 'it is the checkpoint of another log');
  }

  function reportTreeFault(at: number, fault: string): void {
    reportFault(`checkpoint of ${at} leaves`, fault);
  }

  function reportLeafFault({ place }: Leaf, where: string, fault: string): void {
    faulty.add(place);
    reportFault(where, fault);
  }

  function reportFault(where: string, fault: string): void {
    faults.push({ where, fault });
  }
}

/** Returns the list of a sealed row in brackets; nothing for reads. */
function getListName({ kind, resource }: Leaf): string {
  return kind === 'change' ? ` (${resource})` : '';
}

/** By which list and id people find it. */
function getRowName({ kind, resource, record }: Observation): string {
  const id = record['id'] ?? record['credit_id'] ?? record['retirement_id'];
  return kind === 'change' ? `: ${resource} ${id}` : '';
}

/** Whether a leaf is as it is written for an observation, with the columns that the sealer counts. */
function isSealedAs(leaf: Leaf, observation: Observation): boolean {
  const { salt, place, commitment } = leaf;
  const made = createLeafContent(salt ?? Buffer.of(), observation, place);
  return (
    RECORDED_COLUMNS.every(name => leaf[name] === made[name]) &&
    Buffer.compare(made.commitment, commitment) === 0
  );
}

/** Converts the record of a leaf to the observation that it commits to. */
function toObservation(leaf: Leaf): Observation {
  const record = parseLeafRecord(leaf);
  const owner = record['organization_id'] ?? record['installation_id'] ?? null;
  const subject = owner === null ? null : String(owner);
  if (leaf.kind !== 'open_span') return createObservation(leaf.kind, record, { subject });
  const [resource, read_at] = [String(record['resource']), String(record['last_started_at'])];
  return createObservation(leaf.kind, record, { subject, resource, read_at, is_complete: 1 });
}
