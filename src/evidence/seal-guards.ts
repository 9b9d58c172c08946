import { assertAuthentic, assertWrittenByProgram, isAuthentic } from './authentication-codes.js';
import { parseTreeHead } from './checkpoint.js';
import { parseLeafRecord } from './leaf.js';
import { type LeafGuard, readCompleteLeaf, readNamedLeaves, sumPlaces } from './completeness-leaves.js';
import { refuse } from './evidence-error.js';
import { openNote } from './signed-note.js';
import { NO_LIMIT, type LogProgress, type Leaf, NUMBERED_KINDS } from './port.js';
import { readSigners } from './renew-key.js';
import { hashErasedPlaces, NOTHING_ERASED } from './erase-leaves.js';
import type { Sealing } from './log-writer.js';

type Signing = Pick<Sealing, 'port' | 'key' | 'lastSigned'>;

/** Throws if the next round would refuse to sign, as far as can be told without counting. */
export async function assertSealable(signing: Signing): Promise<void> {
  const progress = await signing.port.readProgress();
  await assertSameKey(signing);
  await assertNewestLeaves(signing, progress, await readCompleteLeaf(signing.port, progress.size));
}

/** Throws if the key is not the one of this log. */
export async function assertSameKey({ port, key: readKey, lastSigned }: Signing): Promise<void> {
  const key = readKey();
  const checkpoint = await port.findCheckpoint(NO_LIMIT);
  const signer = (await readSigners(port, key))(checkpoint?.size ?? 0);
  const text = openNote(checkpoint?.note ?? '', signer);
  const names = [lastSigned.read()?.origin, text === null ? undefined : parseTreeHead(text).origin];
  /** After a restore, the name of the log is followed by an instant. */
  for (const name of names)
    if (name !== undefined && !`${name}/`.startsWith(`${key.name}/`))
      refuse(`not signed: the last tree was one of ${name}`);
  if (checkpoint === null || text !== null) return;
  const covered = await port.listLeaves({ places: [checkpoint.size - 1] });
  if (!covered.some(leaf => isAuthentic(leaf, key.codeKeys)))
    refuse('not signed: EVIDENCE_KEY_FILE names another key than the one that signed this log');
}

type CompleteLeaf = Awaited<ReturnType<typeof readCompleteLeaf>>;

/**
 * Throws if this program did not write an unsigned leaf, or if the newest leaf of a numbered kind was changed or hidden,
 * because then the sealer would skip or repeat numbers.
 */
export async function assertNewestLeaves(
  { port, key, lastSigned }: Signing,
  progress: LogProgress,
  { leaf, fields }: CompleteLeaf,
): Promise<void> {
  const signed = lastSigned.read()?.size ?? 0;
  assertAuthentic(await port.listLeaves({ places: [signed - 1] }), key().codeKeys);
  for await (const leaves of port.iterateLeaves(signed, progress.size))
    assertWrittenByProgram(leaves, key().codeKeys);
  const newest = await Promise.all(
    NUMBERED_KINDS.map(kind => port.listLeaves({ kind, numbers: [progress[kind]] })),
  );
  assertAuthentic([...newest.flat(), ...(leaf === undefined ? [] : [leaf])], key().codeKeys);
  const least = { change: 0, sync: fields.sync_up_to, unchanged: fields.span_up_to };
  for (const kind of NUMBERED_KINDS)
    if (progress[kind] < least[kind])
      refuse(
        `not signed: ${kind} ${least[kind]} was sealed, and its leaf is not there, see "carbon-mirror verify"`,
      );
}

/**
 * Returns a guard of what the sealer counts, once it has checked two things: the last leaf of the newest checkpoint lists
 * what is there, but for what was erased since, and no leaf was erased except by `forget` and `purge`.
 */
export async function createLeafGuard(
  { port, key }: Sealing,
  previous: CompleteLeaf,
  size: number,
): Promise<LeafGuard> {
  const { codeKeys } = key();
  const aboutLog = await port.listLeaves({ aboutLogBefore: size });
  assertAuthentic(aboutLog, codeKeys);
  const erasures = aboutLog.filter(({ kind }) => kind === 'forget' || kind === 'purge');
  const later = (place: number) => erasures.filter(each => each.place > place);
  const total = (leaves: readonly Leaf[], name: string) =>
    leaves.reduce((sum, leaf) => sum + Number(parseLeafRecord(leaf)[name] ?? 0), 0);
  const listed = await readNamedLeaves(port, Math.max(0, previous.place));
  const leaves = [...listed.organizations, ...listed.coverage, ...listed.aboutLog];
  assertAuthentic(leaves, codeKeys);
  if (sumPlaces(leaves) + total(later(previous.place), 'unlisted_places') !== previous.listedPlaces)
    refuse(
      `not signed: leaf ${previous.place} lists other leaves than are there, see "carbon-mirror verify"`,
    );
  const digests = erasures.map(each => parseLeafRecord(each)['erased_sha256']);
  const erased = digests.findLast(each => each !== undefined) ?? NOTHING_ERASED;
  if ((await hashErasedPlaces(port)) !== erased)
    refuse('not signed: leaves were erased, but not by forget or purge, see "carbon-mirror verify"');
  return {
    assertAuthentic: all => assertAuthentic(all, codeKeys),
    countErased: place => total(later(place), 'erased_changes'),
  };
}
