import { assertFolder, Fault } from './fault.js';
import type { Header } from './parse-evidence.js';
import { getText, listLeavesOfKind } from './row-versions.js';
import { type Checkpoint, findSignerName } from './signed-checkpoint.js';
import type { Signer } from './signer.js';
import { computeOlderRoot, type HashedLeaf, type TreeLevels } from './tree.js';

/** The older checkpoint, and the log that must continue it. */
export interface Continuation {
  readonly header: Header;
  readonly checkpoint: Checkpoint;
  readonly older: Checkpoint;
  readonly signer: Signer;
  readonly levels: TreeLevels;
  readonly leaves: ReadonlyMap<number, HashedLeaf>;
}

/** Throws a Fault unless the log begins with all leaves of an older checkpoint of the same log. */
export async function checkContinuation(continuation: Continuation): Promise<void> {
  const { header, checkpoint, older, signer, levels, leaves } = continuation;
  const olderSigner = await findSignerName(older, signer.trustedKeys, signer.name);
  assertFolder(olderSigner !== null, 'the older checkpoint is not signed by the given key for this log');
  assertFolder(
    older.instant <= checkpoint.instant,
    `the checkpoint says that it was signed at ${checkpoint.instant}, before the older one of ${older.instant}`,
  );
  const lost = findLostCheckpoint(leaves, older);
  if (lost !== null) throw new Fault(lost);
  assertFolder(
    older.size <= checkpoint.size,
    `the older checkpoint has ${older.size} leaves, and this log has only ${checkpoint.size}`,
  );
  const root = older.size === checkpoint.size ? checkpoint.root : await computeOlderRoot(levels, older.size);
  assertFolder(
    root !== null && header.since === older.size,
    `the folder has no proof for the older checkpoint of ${older.size} leaves: ask for an export with --since and that checkpoint`,
  );
  assertFolder(root === older.root, 'this log does not continue from the older checkpoint: it was rewritten');
  const isRenamed = listLeavesOfKind(leaves, 'restore').some(
    ({ record }) => record.get('origin') === checkpoint.origin,
  );
  assertFolder(
    older.origin === checkpoint.origin || isRenamed,
    `the log is named ${checkpoint.origin}, the older checkpoint is of ${older.origin}, and no leaf says why`,
  );
}

/** Describes the restore of a backup that lost the older checkpoint; null if none did. */
function findLostCheckpoint(leaves: ReadonlyMap<number, HashedLeaf>, older: Checkpoint): string | null {
  for (const { record, place } of listLeavesOfKind(leaves, 'restore')) {
    const lostSize = Number(record.get('lost_size') ?? 0);
    const isOfLostLog = older.origin === getText(record, 'lost_origin');
    const isLost = isOfLostLog && older.size > place && older.size <= lostSize;
    if (!isLost) continue;
    return `the older checkpoint of ${older.size} leaves was lost when a backup was restored at ${getText(record, 'at')}: the log continued from its first ${place} leaves as ${getText(record, 'origin')}`;
  }
  return null;
}
