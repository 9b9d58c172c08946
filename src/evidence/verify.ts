import { findWaiting } from './behind.js';
import { headOf } from './checkpoint.js';
import { isNumbered, leafOf, recordOf } from './commitment.js';
import { openNote, type Verifier } from './note.js';
import {
  ALL,
  type Observation,
  createObservation,
  type Leaf,
  NUMBERED,
  type Numbered,
  PLAIN_COLUMNS,
} from './port.js';
import { readSigners } from './renew.js';
import type { Sealing } from './seal.js';
import { EMPTY, growTree } from './tree.js';

/** What does not fit, and where. */
interface Unfit {
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
  readonly faults: readonly Unfit[];
}

/** A clock may be set back by so much. */
const CLOCK_LEEWAY_MS = 86_400_000;
const NOT_AS_SEALED = 'it is not as it was sealed';
/** What the log tells of a leaf, beside its salt and commitment. */
const TOLD = [...PLAIN_COLUMNS, 'number', 'record'] as const;

/** Holds the mirror against the log, and the log against every checkpoint. */
export async function verifyEvidence(
  verifying: Pick<Sealing, 'port' | 'lastSigned'> & { readonly key: Verifier },
): Promise<VerifiedLog> {
  const { port, key, lastSigned } = verifying;
  const faults: Unfit[] = [];
  let [erased, removed, accounted, covered, next] = [0, 0, 0, 0, 0];
  /** No number is below 1, unless somebody made it up. */
  const compared = {
    change: Number.MIN_SAFE_INTEGER,
    sync: Number.MIN_SAFE_INTEGER,
    unchanged: Number.MIN_SAFE_INTEGER,
  };
  /** Read before the size of the log, which grows first. */
  const [last, newest] = [lastSigned.read(), await port.checkpoint(ALL)];
  const signerOf = await readSigners(port, key);
  const tree = growTree(EMPTY);
  let syncsKeptSince: string | null = null;
  /** When the newest sync so far that is still there began: those with higher numbers ended later. */
  let syncStart = -Infinity;
  const ends = await port.ends();
  const { size } = ends;
  for await (const leaves of port.walk(0, size)) {
    for (const kind of NUMBERED) await compareRows(kind, leaves);
    for (const leaf of leaves) countLeaf(leaf);
    await compareTrees(leaves);
  }
  if (erased > accounted) tell(`${erased} leaves without salt`, `forget and purge erased ${accounted}`);
  for (const signed of [last, newest])
    if (signed !== null && signed.size > size)
      tellTree(signed.size, `it was signed, and only ${size} leaves are there`);
  const { changes: waiting } = await findWaiting(port, ends);
  return { leaves: size, covered, waiting, erased, removed, syncsKeptSince, faults };

  function countLeaf(leaf: Leaf): void {
    if (leaf.salt === null) erased += 1;
    else if (isNumbered(leaf.kind)) return;
    else if (isOf(leaf, factOfLeaf(leaf))) accounted += Number(recordOf(leaf)['leaves'] ?? 0);
    else tell(`${leaf.kind} ${leaf.number}`, NOT_AS_SEALED);
  }

  async function compareRows(kind: Numbered, all: readonly Leaf[]): Promise<void> {
    const leaves = all.filter(leaf => leaf.kind === kind);
    const to = leaves.reduce((most, { number }) => Math.max(most, number), compared[kind]);
    const facts = await port.facts(kind, compared[kind], to);
    /** Read after the syncs: a worker may remove some meanwhile. */
    if (kind === 'sync') syncsKeptSince = await port.syncsKeptSince();
    compared[kind] = to;
    const byNumber = new Map(facts.map(fact => [fact.number, fact]));
    for (const leaf of leaves) {
      const fact = byNumber.get(leaf.number);
      byNumber.delete(leaf.number);
      const where = `${kind} ${leaf.number}`;
      if (leaf.salt === null) {
        if (fact !== undefined)
          tell(where, 'its salt is erased, and it is there still: forget or purge again');
      } else if (fact === undefined && kind === 'sync' && mayBeOld()) removed += 1;
      else if (fact === undefined) tell(where, `it was sealed${listOf(leaf)}, and is not there`);
      else if (!isOf(leaf, fact)) tell(where, `${NOT_AS_SEALED}${rowOf(fact)}`);
      else if (kind === 'sync') syncStart = Date.parse(String(fact.record['started_at']));
    }
    for (const [number, fact] of byNumber)
      tell(`${kind} ${number}`, `it is older than what is sealed, and was never sealed${rowOf(fact)}`);
  }

  /** Whether a sync that is missing here may have been removed because it was old. */
  function mayBeOld(): boolean {
    return syncsKeptSince !== null && syncStart - CLOCK_LEEWAY_MS < Date.parse(syncsKeptSince);
  }

  async function compareTrees(leaves: readonly Leaf[]): Promise<void> {
    const to = Number(leaves.at(-1)?.place) + 1;
    const notes = new Map((await port.checkpoints(next, to)).map(each => [each.size, each.note]));
    for (const { place, commitment } of leaves) {
      if (place > next) tell(`leaves from ${next} to ${place - 1}`, 'they are not there');
      tree.add(commitment);
      next = place + 1;
      const note = notes.get(next);
      if (note !== undefined) compareNote(next, note, tree.root());
      if (note !== undefined) covered = next;
      if (last?.size === next && last.root !== tree.root())
        tellTree(next, 'what was signed last is of another log');
    }
  }

  function compareNote(at: number, note: string, root: string): void {
    const text = openNote(note, signerOf(at));
    if (text === null) return tellTree(at, 'it is not signed by the key of that time');
    const head = headOf(text);
    if (head.size !== at || head.root !== root) tellTree(at, 'it is the checkpoint of another log');
  }

  function tellTree(at: number, fault: string): void {
    tell(`checkpoint of ${at} leaves`, fault);
  }

  function tell(where: string, fault: string): void {
    faults.push({ where, fault });
  }
}

/** Returns the list of a sealed row in brackets; nothing for reads. */
function listOf({ kind, resource }: Leaf): string {
  return kind === 'change' ? ` (${resource})` : '';
}

/** By which list and id people find it. */
function rowOf({ kind, resource, record }: Observation): string {
  const id = record['id'] ?? record['credit_id'] ?? record['retirement_id'];
  return kind === 'change' ? `: ${resource} ${id}` : '';
}

/** What the log tells openly is counted, so all of it must be what a leaf of this would tell. */
function isOf(leaf: Leaf, fact: Observation): boolean {
  const { salt, place, commitment } = leaf;
  const made = leafOf(salt ?? Buffer.of(), fact, place);
  return TOLD.every(name => leaf[name] === made[name]) && Buffer.compare(made.commitment, commitment) === 0;
}

/** What a leaf says by its own text, and of whom that speaks. */
function factOfLeaf(leaf: Leaf): Observation {
  const record = recordOf(leaf);
  const owner = record['organization_id'] ?? record['installation_id'] ?? null;
  const subject = owner === null ? null : String(owner);
  if (leaf.kind !== 'open_span') return createObservation(leaf.kind, record, { subject });
  const [resource, read_at] = [String(record['resource']), String(record['last_started_at'])];
  return createObservation(leaf.kind, record, { subject, resource, read_at, is_complete: 1 });
}
