import { createHash } from 'node:crypto';
import { readCompleteLeaf, sumPlaces } from './completeness-leaves.js';
import { NO_LIMIT, type EvidencePort, createObservation, type LeafFilter } from './port.js';
import { type LogWriter, withWriterLock, newLeaf } from './log-writer.js';

/** The SHA-256 of no places. */
export const NOTHING_ERASED = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/**
 * Removes rows with `remove`, and erases the salts of their leaves. The hashes of the leaves stay, and reveal nothing. A new
 * leaf says how many were erased. Its other fields let the sealer check that nobody else erases a leaf:
 *
 * - `erased_sha256`: the SHA-256 of the places of all erased leaves.
 * - `erased_changes`: how many of the leaves that are erased now counted in the months of an organization that stays.
 * - `unlisted_places`: the sum of the places of those that the last leaf of the newest checkpoint lists.
 */
export async function eraseLeaves<T>(
  writing: LogWriter,
  kind: 'forget' | 'purge',
  selectLeaves: () => Promise<LeafFilter>,
  remove: () => Promise<T>,
): Promise<T> {
  const { port, now } = writing;
  return await withWriterLock(writing, async () => {
    const filter = await selectLeaves();
    const leaves = await port.listUnerasedLeaves(filter);
    if (leaves.length > 0) {
      const places = new Set(leaves.map(({ place }) => place));
      const { place: before } = await readCompleteLeaf(port, NO_LIMIT);
      const listed = [
        ...(await port.listLeaves({ newest: 'organization', before })),
        ...(await port.listLeaves({ newest: 'coverage', before })),
      ];
      const unlisted = listed.filter(({ place }) => places.has(place));
      const subjects = new Set(unlisted.map(({ subject }) => subject));
      const changes = leaves.filter(leaf => leaf.kind === 'change' && !subjects.has(leaf.subject));
      const record = {
        leaves: leaves.length,
        at: new Date(now()).toISOString(),
        erased_sha256: await hashErasedPlaces(port, [...places]),
        erased_changes: changes.length,
        unlisted_places: sumPlaces(unlisted),
      };
      const { size } = await port.readProgress();
      await port.eraseLeaves(newLeaf(writing, createObservation(kind, record), size), filter);
    }
    return await remove();
  });
}

/** Returns the SHA-256 of the places of all erased leaves, in order, each with a line end; `added` are about to be erased. */
export async function hashErasedPlaces(port: EvidencePort, added: readonly number[] = []): Promise<string> {
  const all = [...added];
  for await (const places of port.iterateErasedPlaces()) for (const place of places) all.push(place);
  const hash = createHash('sha256');
  for (const place of all.toSorted((one, other) => one - other)) hash.update(`${place}\n`);
  return hash.digest('hex');
}
