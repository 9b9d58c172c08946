import { isAuthentic } from './authentication-codes.js';
import { parseLeafRecord } from './leaf.js';
import { readCheckpointLeaf, readNamedLeaves, sumLeafIndexes } from './completeness-leaves.js';
import type { LastSignedFile } from './key-file.js';
import { NO_LIMIT, createLeafInput, type EvidencePort, type Leaf } from './port.js';
import { appendLeaf, withWriterLock, type LogWriter } from './log-writer.js';

/** How many leaves were removed. */
export interface DiscardedLeaves {
  /** The number of removed leaves that this program did not write. */
  readonly foreign: number;
  /** The number of removed leaves of this program, which came after the foreign ones. Their content is sealed again. */
  readonly own: number;
}

/**
 * Removes the unsigned leaves from the first one that this program did not write (a foreign leaf) to the end of the log. Signed
 * leaves are never removed. Someone with write access to the database may have inserted the foreign leaves, and the sealer
 * refuses to sign while they are there. The program's own leaves after the first foreign leaf are removed too. Those that record
 * log events (erasures, restores and new keys) are appended again at once.
 */
export async function discardForeignLeaves(
  discarding: LogWriter & { readonly lastSigned: LastSignedFile },
): Promise<DiscardedLeaves> {
  const { port, key, lastSigned } = discarding;
  return await withWriterLock(discarding, async () => {
    const signed = Math.max(lastSigned.read()?.size ?? 0, (await port.findCheckpoint(NO_LIMIT))?.size ?? 0);
    const { codeKeys } = key();
    const isForeign = (leaf: Leaf): boolean => leaf.place < 0 || !isAuthentic(leaf, codeKeys);
    const start = await findFirstIndexToRemove(port, signed, isForeign);
    const removed: Leaf[] = [];
    for await (const leaves of port.iterateLeaves(Number.MIN_SAFE_INTEGER, NO_LIMIT))
      removed.push(...leaves.filter(({ place }) => place < 0 || place >= start));
    await port.removeLeavesFrom(start);
    const foreign = removed.filter(isForeign).length;
    await reappendLogEvents(
      discarding,
      removed.filter(leaf => !isForeign(leaf)),
    );
    return { foreign, own: removed.length - foreign };
  });
}

/**
 * Returns the index of the first unsigned leaf that is foreign or missing. All leaves from this index on must be removed. If no leaf is
 * foreign or missing, returns the next index after the end of the log. `signed` is the number of signed leaves.
 */
async function findFirstIndexToRemove(
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

/** Appends the log events among removed leaves again, because the sealer cannot derive them from the mirror. */
async function reappendLogEvents(writer: Omit<LogWriter, 'holder'>, removed: readonly Leaf[]): Promise<void> {
  const { port } = writer;
  const kinds = ['forget', 'purge', 'restore', 'key'];
  const { place, listedPlaces } = await readCheckpointLeaf(port, NO_LIMIT);
  const { organizations, coverage, logEvents } = await readNamedLeaves(port, Math.max(0, place));
  // Erasures after that checkpoint have leaves of their own, which record the sum of the indexes that they erased.
  const earlier = (await port.listLeaves({ logEventsBefore: NO_LIMIT })).filter(leaf => leaf.place > place);
  const accounted = earlier.reduce(
    (sum, leaf) => sum + Number(parseLeafRecord(leaf)['unlisted_places'] ?? 0),
    0,
  );
  let unlisted = listedPlaces - sumLeafIndexes([...organizations, ...coverage, ...logEvents]) - accounted;
  for (const leaf of removed.filter(({ kind }) => kinds.includes(kind))) {
    const record = parseLeafRecord(leaf);
    const isErasure = leaf.kind === 'forget' || leaf.kind === 'purge';
    await appendLeaf(
      writer,
      createLeafInput(leaf.kind, isErasure ? { ...record, unlisted_places: unlisted } : record),
    );
    if (isErasure) unlisted = 0;
  }
}
