import { assertAuthentic, assertUnsignedLeavesAuthentic, isAuthentic } from './authentication-codes.js';
import { parseTreeHead } from './checkpoint.js';
import { parseLeafRecord } from './leaf.js';
import {
  type LeafGuard,
  readCheckpointLeaf,
  readNamedLeaves,
  sumLeafIndexes,
} from './completeness-leaves.js';
import { throwEvidenceError } from './evidence-error.js';
import { openNote } from './signed-note.js';
import { NO_LIMIT, type LogProgress, type Leaf, NUMBERED_KINDS } from './port.js';
import { readSigners } from './renew-key.js';
import { hashErasedIndexes, HASH_OF_NO_ERASURES } from './erase-leaves.js';
import type { Sealer } from './log-writer.js';

/** The parts of a sealer that the checks before signing need. */
type SealerChecks = Pick<Sealer, 'port' | 'key' | 'lastSigned'>;

/**
 * Throws an EvidenceError if the next sealing run would refuse to sign. Does not count rows again, so it misses faults in the
 * counts.
 */
export async function assertSealable(sealer: SealerChecks): Promise<void> {
  const progress = await sealer.port.readProgress();
  await assertSameKey(sealer);
  await assertNewestLeaves(sealer, progress, await readCheckpointLeaf(sealer.port, progress.size));
}

/** Throws an EvidenceError if the key is not the one that signed this log, or if it signed another log last. */
export async function assertSameKey({ port, key: readKey, lastSigned }: SealerChecks): Promise<void> {
  const key = readKey();
  const checkpoint = await port.findCheckpoint(NO_LIMIT);
  const signer = (await readSigners(port, key))(checkpoint?.size ?? 0);
  const text = openNote(checkpoint?.note ?? '', signer);
  const names = [lastSigned.read()?.origin, text === null ? undefined : parseTreeHead(text).origin];
  /** After a restore, the name of the log is followed by an instant. */
  for (const name of names)
    if (name !== undefined && !`${name}/`.startsWith(`${key.name}/`))
      throwEvidenceError(`not signed: the last tree was one of ${name}`);
  if (checkpoint === null || text !== null) return;
  const covered = await port.listLeaves({ leafIndexes: [checkpoint.size - 1] });
  if (!covered.some(leaf => isAuthentic(leaf, key.codeKeys)))
    throwEvidenceError('not signed: EVIDENCE_KEY_FILE names another key than the one that signed this log');
}

/** The newest checkpoint leaf, as `readCheckpointLeaf` returns it. */
type CheckpointLeaf = Awaited<ReturnType<typeof readCheckpointLeaf>>;

/**
 * Throws an EvidenceError if an unsigned leaf is not authentic, or if somebody changed or hid the newest leaf about a change, a sync, or a
 * span of unchanged reads. The sealer continues from the numbers of these newest leaves. With false numbers it would seal records twice or
 * omit some.
 */
export async function assertNewestLeaves(
  { port, key, lastSigned }: SealerChecks,
  progress: LogProgress,
  { leaf, fields }: CheckpointLeaf,
): Promise<void> {
  const signed = lastSigned.read()?.size ?? 0;
  assertAuthentic(await port.listLeaves({ leafIndexes: [signed - 1] }), key().codeKeys);
  for await (const leaves of port.iterateLeaves(signed, progress.size))
    assertUnsignedLeavesAuthentic(leaves, key().codeKeys);
  const newest = await Promise.all(
    NUMBERED_KINDS.map(kind => port.listLeaves({ kind, numbers: [progress[kind]] })),
  );
  assertAuthentic([...newest.flat(), ...(leaf === undefined ? [] : [leaf])], key().codeKeys);
  const least = { change: 0, sync: fields.sync_up_to, unchanged: fields.span_up_to };
  for (const kind of NUMBERED_KINDS)
    if (progress[kind] < least[kind])
      throwEvidenceError(
        `not signed: ${kind} ${least[kind]} was sealed, and its leaf is not there, see "carbon-mirror verify"`,
      );
}

/**
 * Checks the log, then returns a guard. With this guard, the sealer checks leaves before it counts them. `size` is the current size of the
 * log. Throws an EvidenceError if somebody changed or hid a leaf that the newest checkpoint leaf names, or if anything but `forget` and
 * `purge` erased leaves.
 */
export async function createLeafGuard(
  { port, key }: Sealer,
  previous: CheckpointLeaf,
  size: number,
): Promise<LeafGuard> {
  const { codeKeys } = key();
  const logEvents = await port.listLeaves({ logEventsBefore: size });
  assertAuthentic(logEvents, codeKeys);
  const erasures = logEvents.filter(({ kind }) => kind === 'forget' || kind === 'purge');
  const listErasuresAfter = (leafIndex: number) => erasures.filter(each => each.place > leafIndex);
  const sumField = (leaves: readonly Leaf[], name: string) =>
    leaves.reduce((sum, leaf) => sum + Number(parseLeafRecord(leaf)[name] ?? 0), 0);
  const listed = await readNamedLeaves(port, Math.max(0, previous.place));
  const leaves = [...listed.organizations, ...listed.coverage, ...listed.logEvents];
  assertAuthentic(leaves, codeKeys);
  if (
    sumLeafIndexes(leaves) + sumField(listErasuresAfter(previous.place), 'unlisted_places') !==
    previous.listedPlaces
  )
    throwEvidenceError(
      `not signed: leaf ${previous.place} lists other leaves than are there, see "carbon-mirror verify"`,
    );
  const digests = erasures.map(each => parseLeafRecord(each)['erased_sha256']);
  const erased = digests.findLast(each => each !== undefined) ?? HASH_OF_NO_ERASURES;
  if ((await hashErasedIndexes(port)) !== erased)
    throwEvidenceError(
      'not signed: leaves were erased, but not by forget or purge, see "carbon-mirror verify"',
    );
  return {
    assertAuthentic: all => assertAuthentic(all, codeKeys),
    countErasedChanges: leafIndex => sumField(listErasuresAfter(leafIndex), 'erased_changes'),
  };
}
