import { assertFolder, EvidenceFault } from './fault.js';
import type { Header } from './parse-evidence.js';
import { getText, listLeavesOfKind } from './row-versions.js';
import { type Checkpoint, findSignerName } from './signed-checkpoint.js';
import type { Signer } from './signer.js';
import { computeOlderRoot, type HashedLeaf, type TreeLevels } from './tree.js';

/** An older checkpoint, and the newer one that must be consistent with it. */
export interface ConsistencyRequest {
  readonly header: Header;
  /** The checkpoint of the folder. */
  readonly checkpoint: Checkpoint;
  /** The checkpoint that the user received earlier. */
  readonly older: Checkpoint;
  /** The signer of the folder's checkpoint. */
  readonly signer: Signer;
  /** The known nodes of the folder's tree. */
  readonly levels: TreeLevels;
  /** The shown leaves by their index. */
  readonly leaves: ReadonlyMap<number, HashedLeaf>;
}

/**
 * Checks the consistency proof: throws an EvidenceFault unless the older checkpoint is signed by a key of the same log, and the
 * log begins with all leaves of that checkpoint.
 */
export async function checkConsistency(request: ConsistencyRequest): Promise<void> {
  const { header, checkpoint, older, signer, levels, leaves } = request;
  const olderSigner = await findSignerName(older, signer.trustedKeys, signer.name);
  assertFolder(olderSigner !== null, 'the older checkpoint is not signed by the given key for this log');
  assertFolder(
    older.instant <= checkpoint.instant,
    `the checkpoint says that it was signed at ${checkpoint.instant}, before the older one of ${older.instant}`,
  );
  const lost = describeLostCheckpoint(leaves, older);
  if (lost !== null) throw new EvidenceFault(lost);
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

/**
 * Returns a sentence if leaves of the older checkpoint were lost when a backup was restored, according to a shown leaf about the restore.
 * Returns null if no leaf says so.
 */
function describeLostCheckpoint(leaves: ReadonlyMap<number, HashedLeaf>, older: Checkpoint): string | null {
  for (const { record, leafIndex } of listLeavesOfKind(leaves, 'restore')) {
    const lostSize = Number(record.get('lost_size') ?? 0);
    const isOfLostLog = older.origin === getText(record, 'lost_origin');
    const isLost = isOfLostLog && older.size > leafIndex && older.size <= lostSize;
    if (!isLost) continue;
    return `the older checkpoint of ${older.size} leaves was lost when a backup was restored at ${getText(record, 'at')}: the log continued from its first ${leafIndex} leaves as ${getText(record, 'origin')}`;
  }
  return null;
}
