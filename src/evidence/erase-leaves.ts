import { createHash } from 'node:crypto';
import { readCheckpointLeaf, sumLeafIndexes } from './completeness-leaves.js';
import { NO_LIMIT, type EvidencePort, createLeafInput, type LeafFilter } from './port.js';
import { type LogWriter, withWriterLock, createSaltedLeaf } from './log-writer.js';

/** The value of `erased_sha256` while no leaf is erased: the SHA-256 of an empty text. */
export const HASH_OF_NO_ERASURES = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/**
 * Erases the leaves that `selectLeaves` selects, then removes their rows with `removeRows` and returns its result. Erasing a leaf sets to
 * null its salt and all columns that reveal what it is about; its hash stays. Waits for the writer lock.
 *
 * If any leaf is erased, also appends a leaf of the given kind, with the number of erased leaves. The sealer compares three more fields of
 * this leaf with the log, and so notices if anything else erases a leaf:
 *
 * - `erased_sha256`: the SHA-256 of the indexes of all leaves that were ever erased.
 * - `erased_changes`: how many of the change leaves that this call erased belong to organizations whose newest leaf was not erased. That
 *   leaf still counts the erased changes.
 * - `unlisted_places`: the sum of the indexes of the leaves that this call erased and that the newest checkpoint leaf names.
 */
export async function eraseLeaves<Result>(
  writer: LogWriter,
  kind: 'forget' | 'purge',
  selectLeaves: () => Promise<LeafFilter>,
  removeRows: () => Promise<Result>,
): Promise<Result> {
  const { port, now } = writer;
  return await withWriterLock(writer, async () => {
    const filter = await selectLeaves();
    const leaves = await port.listUnerasedLeaves(filter);
    if (leaves.length > 0) {
      const places = new Set(leaves.map(({ place }) => place));
      const { place: beforeIndex } = await readCheckpointLeaf(port, NO_LIMIT);
      const listed = [
        ...(await port.listLeaves({ newest: 'organization', beforeIndex })),
        ...(await port.listLeaves({ newest: 'coverage', beforeIndex })),
      ];
      const unlisted = listed.filter(({ place }) => places.has(place));
      const subjects = new Set(unlisted.map(({ subject }) => subject));
      const changes = leaves.filter(leaf => leaf.kind === 'change' && !subjects.has(leaf.subject));
      const record = {
        leaves: leaves.length,
        at: new Date(now()).toISOString(),
        erased_sha256: await hashErasedIndexes(port, [...places]),
        erased_changes: changes.length,
        unlisted_places: sumLeafIndexes(unlisted),
      };
      const { size } = await port.readProgress();
      await port.eraseLeaves(createSaltedLeaf(writer, createLeafInput(kind, record), size), filter);
    }
    return await removeRows();
  });
}

/**
 * Computes the SHA-256 of the indexes of all erased leaves, in ascending order, each followed by a newline. `added` are the
 * indexes of leaves that are about to be erased.
 */
export async function hashErasedIndexes(port: EvidencePort, added: readonly number[] = []): Promise<string> {
  const all = [...added];
  for await (const places of port.iterateErasedIndexes()) for (const place of places) all.push(place);
  const hash = createHash('sha256');
  for (const place of all.toSorted((one, other) => one - other)) hash.update(`${place}\n`);
  return hash.digest('hex');
}
