import { isAuthentic } from './authentication-codes.js';
import { parseLeafRecord } from './leaf.js';
import { readCompleteLeaf, readNamedLeaves, sumPlaces } from './completeness-leaves.js';
import type { LastSigned } from './key-file.js';
import { NO_LIMIT, createObservation, type EvidencePort, type Leaf } from './port.js';
import { appendLeaf, withWriterLock, type LogWriter } from './log-writer.js';

export interface DiscardedLeaves {
  /** Leaves that this program did not write. */
  readonly foreign: number;
  /** The program's own leaves behind them. The next round seals their content again. */
  readonly own: number;
}

/**
 * Removes unsigned leaves that this program did not write, for example because somebody with write access to the database
 * inserted them. The sealer signs nothing before that. Signed leaves are never removed.
 */
export async function discardForeignLeaves(
  discarding: LogWriter & { readonly lastSigned: LastSigned },
): Promise<DiscardedLeaves> {
  const { port, key, lastSigned } = discarding;
  return await withWriterLock(discarding, async () => {
    const signed = Math.max(lastSigned.read()?.size ?? 0, (await port.findCheckpoint(NO_LIMIT))?.size ?? 0);
    const { codeKeys } = key();
    const isForeign = (leaf: Leaf): boolean => leaf.place < 0 || !isAuthentic(leaf, codeKeys);
    const start = await findFirstForeign(port, signed, isForeign);
    const removed: Leaf[] = [];
    for await (const leaves of port.iterateLeaves(Number.MIN_SAFE_INTEGER, NO_LIMIT))
      removed.push(...leaves.filter(({ place }) => place < 0 || place >= start));
    await port.removeLeavesFrom(start);
    const foreign = removed.filter(isForeign).length;
    await appendAgain(
      discarding,
      removed.filter(leaf => !isForeign(leaf)),
    );
    return { foreign, own: removed.length - foreign };
  });
}

/** Returns the place from which on leaves must be removed: of the first unsigned leaf that is foreign, or is missing. */
async function findFirstForeign(
  port: EvidencePort,
  signed: number,
  isForeign: (leaf: Leaf) => boolean,
): Promise<number> {
  let next = signed;
  for await (const leaves of port.iterateLeaves(signed, NO_LIMIT))
    for (const leaf of leaves) {
      if (leaf.place !== next || isForeign(leaf)) return next;
      next += 1;
    }
  return next;
}

/** Appends the leaves about erasures, restores and new keys again. Nothing else could write them anew. */
async function appendAgain(writing: Omit<LogWriter, 'holder'>, removed: readonly Leaf[]): Promise<void> {
  const { port } = writing;
  const kinds = ['forget', 'purge', 'restore', 'key'];
  const { place, listedPlaces } = await readCompleteLeaf(port, NO_LIMIT);
  const { organizations, coverage, aboutLog } = await readNamedLeaves(port, Math.max(0, place));
  // Erasures after that checkpoint have leaves of their own, which name the places that they erased.
  const earlier = (await port.listLeaves({ aboutLogBefore: NO_LIMIT })).filter(leaf => leaf.place > place);
  const accounted = earlier.reduce(
    (sum, leaf) => sum + Number(parseLeafRecord(leaf)['unlisted_places'] ?? 0),
    0,
  );
  let unlisted = listedPlaces - sumPlaces([...organizations, ...coverage, ...aboutLog]) - accounted;
  for (const leaf of removed.filter(({ kind }) => kinds.includes(kind))) {
    const record = parseLeafRecord(leaf);
    const isErasure = leaf.kind === 'forget' || leaf.kind === 'purge';
    await appendLeaf(
      writing,
      createObservation(leaf.kind, isErasure ? { ...record, unlisted_places: unlisted } : record),
    );
    if (isErasure) unlisted = 0;
  }
}
