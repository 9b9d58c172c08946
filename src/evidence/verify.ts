import { headOf } from './checkpoint.js';
import { commit } from './commitment.js';
import { sha256 } from './hashes.js';
import type { LastSigned } from './key-file.js';
import { openNote, type SigningKey } from './note.js';
import type { EvidencePort, Fact, Leaf } from './port.js';
import { EMPTY, growTree } from './tree.js';

/** What does not fit, and where. */
interface Unfit {
  readonly where: string;
  readonly fault: string;
}

export interface Verified {
  readonly leaves: number;
  /** Leaves whose salt was erased with what they speak of. */
  readonly erased: number;
  /** Syncs that were sealed and removed in time. */
  readonly removed: number;
  /** How many leaves the newest checkpoint covers. */
  readonly covered: number;
  readonly faults: readonly Unfit[];
}

interface Verifying {
  readonly port: EvidencePort;
  readonly key: SigningKey;
  readonly lastSigned: LastSigned;
}

const AT_ONCE = 1000;

/** Holds the mirror against the log, and the log against every checkpoint. */
export async function verifyEvidence({ port, key, lastSigned }: Verifying): Promise<Verified> {
  const faults: Unfit[] = [];
  const counts = { erased: 0, removed: 0 };
  const last = lastSigned.read();
  const { size, change, sync } = await port.ends();
  for (let after = 0; after < change; after += AT_ONCE) {
    const to = Math.min(change, after + AT_ONCE);
    const from = startOf(after);
    compare(await port.leaves('change', from, to), await port.changes(from, to));
  }
  for (let after = 0; after < sync; after += AT_ONCE) {
    const to = Math.min(sync, after + AT_ONCE);
    const from = startOf(after);
    const facts = (await port.syncs(from, AT_ONCE)).filter(({ number }) => Number(number) <= to);
    compare(await port.leaves('sync', from, to), facts);
  }
  let accounted = 0;
  for (let after = -1; after < size; after += AT_ONCE) {
    for (const kind of ['coverage', 'organization'] as const)
      for (const { salt } of await port.leaves(kind, after, after + AT_ONCE))
        if (salt === null) counts.erased += 1;
    for (const kind of ['complete', 'forget', 'purge', 'restore'] as const)
      for (const leaf of await port.leaves(kind, after, after + AT_ONCE)) {
        if (isOf(leaf, leaf.record ?? '')) accounted += leavesIn(leaf.record ?? '');
        else tell(leaf, 'it is not as it was sealed');
      }
  }
  if (counts.erased > accounted)
    faults.push({
      where: `${counts.erased} leaves without salt`,
      fault: `forget and purge erased ${accounted}`,
    });
  const covered = await compareTrees();
  return { leaves: size, covered, ...counts, faults };

  function tell({ kind, number }: Pick<Leaf, 'kind' | 'number'>, fault: string): void {
    faults.push({ where: `${kind} ${number}`, fault });
  }

  function compare(leaves: readonly Leaf[], facts: readonly Fact[]): void {
    const byNumber = new Map(facts.map(fact => [fact.number, fact]));
    for (const leaf of leaves) {
      const fact = byNumber.get(leaf.number);
      byNumber.delete(leaf.number);
      if (leaf.salt === null) {
        counts.erased += 1;
        if (fact !== undefined)
          tell(leaf, 'its salt is erased, and it is there still: forget or purge again');
      } else if (fact === undefined && leaf.kind === 'sync') counts.removed += 1;
      else if (fact === undefined) tell(leaf, `it was sealed (${leaf.resource}), and is not there`);
      else if (!commit(leaf.salt, fact.record).equals(leaf.commitment))
        tell(leaf, 'it is not as it was sealed');
    }
    for (const { kind, number } of byNumber.values())
      tell({ kind, number: Number(number) }, 'it is older than what is sealed, and was never sealed');
  }

  async function compareTrees(): Promise<number> {
    const tree = growTree(EMPTY);
    let newest = 0;
    for (let from = 0; from < size; from += AT_ONCE) {
      const to = Math.min(size, from + AT_ONCE);
      const notes = new Map((await port.checkpoints(from, to)).map(each => [each.size, each.note]));
      for (const [index, commitment] of (await port.commitments(from, to)).entries()) {
        tree.add(commitment);
        const at = from + index + 1;
        const note = notes.get(at);
        if (note !== undefined) compareNote(at, note, tree.root());
        if (note !== undefined) newest = at;
        if (last?.size === at && last.root !== tree.root())
          tellTree(at, 'what was signed last is of another log');
      }
    }
    if (last !== null && last.size > size)
      tellTree(last.size, `it was signed, and only ${size} leaves are there`);
    const later = await port.checkpoints(size, Number.MAX_SAFE_INTEGER);
    const { size: now } = await port.ends();
    for (const { size: of } of later) if (of > now) tellTree(of, `only ${now} leaves are there`);
    return newest;
  }

  function compareNote(at: number, note: string, root: string): void {
    const text = openNote(note, key);
    if (text === null) return tellTree(at, 'it is not signed by this key');
    const head = headOf(text);
    if (head.size !== at || head.root !== root) tellTree(at, 'it is the checkpoint of another log');
  }

  function tellTree(at: number, fault: string): void {
    faults.push({ where: `checkpoint of ${at} leaves`, fault });
  }
}

/** No number is below 1, unless somebody made it up. */
function startOf(after: number): number {
  return after === 0 ? Number.MIN_SAFE_INTEGER : after;
}

function isOf({ salt, commitment }: Leaf, text: string): boolean {
  return salt !== null && sha256(salt, Buffer.from(text)).equals(commitment);
}

function leavesIn(record: string): number {
  return Number(/"leaves":(\d+)/.exec(record)?.[1] ?? 0);
}
