import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises';
import { assertAuthentic, assertOwn, isAuthentic } from './authentication-codes.js';
import { type Head, headOf, type SignedHead, textOfHead } from './checkpoint.js';
import { canonicalJson, createLeaf, recordOf } from './commitment.js';
import {
  type LeafGuard,
  createCompleteObservation,
  observeOrganizations,
  readCompleteLeaf,
  readNamedLeaves,
  sumOfPlaces,
} from './completeness-leaves.js';
import { refuse } from './errors.js';
import type { LastSigned } from './key-file.js';
import { type SigningKey } from './signing-key.js';
import { openNote, signNote } from './signed-note.js';
import {
  ALL,
  type Cells,
  type LogEnds,
  type EvidencePort,
  type Leaf,
  type Observation,
  NUMBERED,
  type Numbered,
} from './port.js';
import { readSigners } from './renew-key.js';
import { EMPTY, growTree, type Peaks } from './tree.js';
import { RELEASED_CLAIM, LEAF_SALT_BYTES, type LogWriter } from './log-writer.js';
import { hashErasedPlaces, NOTHING_ERASED } from './erase-leaves.js';

export interface Sealing extends LogWriter {
  readonly lastSigned: LastSigned;
  readonly signal: AbortSignal;
}

const AT_ONCE = 1000;
const CLAIM_MS = 120_000;
const IN_ONE_WRITE = 5000;
const CLAIM_RETRY_MS = 200;

/**
 * Runs one round: appends what is new, and signs the tree if it has grown. Returns the number of leaves, or null while
 * another process seals. For `exported` organizations the round also seals the open spans of unchanged reads, so that an
 * export says when their lists were last read. A round without an export leaves them out, because they would take some
 * two million leaves in 90 days for 1,000 organizations.
 */
export async function seal(sealing: Sealing, exported: readonly string[] = []): Promise<number | null> {
  const { port, holder, now } = sealing;
  if (!(await hasClaim(sealing))) return null;
  const release = () => port.claim(holder, now(), RELEASED_CLAIM);
  let size: number;
  try {
    size = await sealClaimed(sealing, exported);
  } catch (error) {
    // Otherwise the next export would wait until the claim expires. An error of the release must not hide this one.
    await release().catch(() => undefined);
    throw error;
  }
  await release();
  return size;
}

/** Runs one round while the claim is held. Returns the number of leaves. */
async function sealClaimed(sealing: Sealing, exported: readonly string[]): Promise<number> {
  const { port, now } = sealing;
  const ends = await port.ends();
  const previous = await readCompleteLeaf(port, ends.size);
  await assertSameKey(sealing);
  await storeLastSigned(sealing);
  await assertEnds(sealing, ends, previous);
  const upTo = await port.newest('change', ends.change);
  const log = await openLog(sealing, ends.size);
  await log.append(unsealed(port, ends, upTo));
  for (const each of exported) await log.append(unsealedSpans(port, each, log.size()));
  const since = { upTo: previous.fields.up_to, place: previous.place };
  const isNew = log.size() !== previous.place + 1;
  if (isNew || exported.length > 0) {
    const guard = await guardOf(sealing, previous, log.size());
    await log.append(observeOrganizations(port, since, { upTo, before: log.size() }, exported, guard));
  }
  let { sealed_at } = previous.fields;
  if (log.size() !== previous.place + 1) {
    const instants = [sealed_at, newestSignedAt(sealing), await log.latestInstant(previous)];
    sealed_at = latestOf([new Date(now()).toISOString(), ...instants]);
    const previous_size = (await readCompleteLeaf(port, sealing.lastSigned.read()?.size ?? 0)).place + 1;
    const { sync, unchanged } = await port.ends();
    const fields = { up_to: upTo, sealed_at, previous_size, sync_up_to: sync, span_up_to: unchanged };
    await log.append([createCompleteObservation(await readNamedLeaves(port, log.size()), fields)]);
  }
  await signTree(sealing, log.size(), sealed_at);
  return log.size();
}

/**
 * Seals for an export, once other processes have ended their rounds. The organizations are those whose rows are exported;
 * null stands for all that are sealed.
 */
export async function sealForExport(sealing: Sealing, organizationId: string | null): Promise<number> {
  const newest = await sealing.port.leaves({ newest: 'organization', before: ALL });
  const sealed = newest.map(({ subject }) => String(subject));
  const exported = sealed.filter(each => organizationId === null || each === organizationId);
  for (;;) {
    const size = await seal(sealing, exported);
    if (size !== null) return size;
    await sleep(CLAIM_RETRY_MS);
    if (sealing.signal.aborted) refuse('not signed: it was interrupted');
  }
}

/** Opens the end of the log, to append leaves in large writes. */
async function openLog(sealing: Sealing, start: number) {
  const { port, key, now, randomBytes } = sealing;
  const [codeKey] = key().codeKeys;
  let [written, claimedAt, latest]: [number, number, string] = [start, now(), ''];
  let waiting: Observation[] = [];
  const write = async () => {
    claimedAt = now();
    /** One call for all, because each call takes as long. */
    const salts = randomBytes(LEAF_SALT_BYTES * waiting.length);
    const saltOf = (at: number) => salts.subarray(at * LEAF_SALT_BYTES, (at + 1) * LEAF_SALT_BYTES);
    if (waiting.length > 0)
      await port.append(waiting.map((fact, at) => createLeaf(fact, saltOf(at), written + at, codeKey)));
    [written, waiting] = [written + waiting.length, []];
    await breathe();
    if (!(await hasClaim(sealing))) refuse('not signed: another seals meanwhile, or this one is to stop');
  };
  return {
    size: (): number => written,
    append: async (facts: AsyncIterable<Observation> | Iterable<Observation>): Promise<void> => {
      for await (const fact of facts) {
        latest = latestOf([latest, ...instantsIn(fact.record)]);
        waiting.push(fact);
        if (waiting.length === IN_ONE_WRITE || now() > claimedAt + CLAIM_MS / 4) await write();
      }
      await write();
    },
    /** Returns the latest instant in what was appended after a checkpoint, also by rounds that were killed. */
    latestInstant: async ({ place }: { readonly place: number }): Promise<string> => {
      for await (const leaves of port.walk(place + 1, start))
        for (const record of await recordsOf(port, leaves))
          latest = latestOf([latest, ...instantsIn(record)]);
      return latest;
    },
  };
}

/** Returns the records of leaves that still have one: from the mirror, or from the leaf itself. */
async function recordsOf(port: EvidencePort, leaves: readonly Leaf[]): Promise<readonly Cells[]> {
  const records = leaves.map(recordOf);
  for (const kind of NUMBERED) {
    const numbers = leaves.filter(leaf => leaf.kind === kind).map(({ number }) => number);
    if (numbers.length === 0) continue;
    const facts = await port.facts(kind, Math.min(...numbers) - 1, Math.max(...numbers));
    records.push(...facts.map(({ record }) => record));
  }
  return records;
}

/** Instants of observations. The instant of a checkpoint must not be earlier than any that it covers. */
const INSTANTS = ['valid_from', 'ended_at', 'last_answer_at', 'finished_at', 'last_finished_at', 'at'];

function instantsIn(record: Cells): readonly string[] {
  return INSTANTS.flatMap(name => {
    const cell = record[name];
    return typeof cell === 'string' ? [cell] : [];
  });
}

/** Instants are written with the same number of digits, so their texts compare as the instants do. */
function latestOf(instants: readonly string[]): string {
  return instants.reduce((latest, each) => (each > latest ? each : latest), '');
}

/** Returns the instant that the key signed last; empty if it signed nothing. */
function newestSignedAt({ lastSigned }: Sealing): string {
  return lastSigned.read()?.signedAt ?? '';
}

/** Yields the open spans of an organization whose newest read is not sealed yet. */
async function* unsealedSpans(port: EvidencePort, organizationId: string, before: number) {
  const sealed = new Map(
    (await port.reads(organizationId, before)).map(each => [each.resource, each.read_at]),
  );
  for (const span of await port.openSpans(organizationId))
    if ((span.read_at ?? '') > (sealed.get(span.resource ?? '') ?? '')) yield span;
}

/** Yields what the mirror has and no leaf contains. */
export async function* unsealed(port: EvidencePort, ends: Record<Numbered, number>, newestChange: number) {
  const newest = {
    change: newestChange,
    sync: await port.newest('sync', ends.sync),
    unchanged: await port.newest('unchanged', ends.unchanged),
  };
  for (const kind of NUMBERED)
    for (let after = ends[kind]; after < newest[kind]; after += AT_ONCE)
      yield* await port.facts(kind, after, Math.min(newest[kind], after + AT_ONCE));
  const known = await port.leaves({ newest: 'coverage', before: ALL });
  const bySubject = new Map(known.map(({ subject, record }) => [subject, record]));
  for (const fact of await port.coverage())
    if (bySubject.get(fact.subject) !== canonicalJson(fact.record)) yield fact;
}

async function hasClaim({ port, holder, now, signal }: Sealing): Promise<boolean> {
  return !signal.aborted && (await port.claim(holder, now(), now() + CLAIM_MS));
}

/**
 * Returns the newest tree that the key has signed. The stored hashes of its subtrees only save time: if they are wrong, the
 * tree is computed from all leaves.
 */
async function growSigned(port: EvidencePort, known: Peaks, signed: Head | undefined) {
  for (const start of [known, EMPTY]) {
    const tree = growTree(start);
    await tree.grow(port.commitments(start.size, signed?.size ?? 0));
    if (signed === undefined || tree.root() === signed.root) return tree;
  }
  return refuse(`not signed: the first ${signed?.size} leaves are not those that were signed`);
}

type Signing = Pick<Sealing, 'port' | 'key' | 'lastSigned'>;

/** Throws if the next round would refuse to sign, as far as can be told without counting. */
export async function assertSealable(signing: Signing): Promise<void> {
  const ends = await signing.port.ends();
  await assertSameKey(signing);
  await assertEnds(signing, ends, await readCompleteLeaf(signing.port, ends.size));
}

/** Throws if the key is not the one of this log. */
async function assertSameKey({ port, key: readKey, lastSigned }: Signing): Promise<void> {
  const key = readKey();
  const checkpoint = await port.checkpoint(ALL);
  const signer = (await readSigners(port, key))(checkpoint?.size ?? 0);
  const text = openNote(checkpoint?.note ?? '', signer);
  const names = [lastSigned.read()?.origin, text === null ? undefined : headOf(text).origin];
  /** After a restore, the name of the log is followed by an instant. */
  for (const name of names)
    if (name !== undefined && !`${name}/`.startsWith(`${key.name}/`))
      refuse(`not signed: the last tree was one of ${name}`);
  if (checkpoint === null || text !== null) return;
  const covered = await port.leaves({ places: [checkpoint.size - 1] });
  if (!covered.some(leaf => isAuthentic(leaf, key.codeKeys)))
    refuse('not signed: EVIDENCE_KEY_FILE names another key than the one that signed this log');
}

/** Stores the newest signed checkpoint if a round was killed before it did, or if somebody deleted it. */
async function storeLastSigned({ port, key, lastSigned }: Sealing): Promise<void> {
  const head = lastSigned.read();
  if (head === null || (await port.checkpoint(head.size))?.size === head.size) return;
  const [last] = await port.leaves({ places: [head.size - 1] });
  /** A restored log that was not signed yet has no checkpoint. */
  if (last?.kind !== 'complete') return;
  const tree = growTree(EMPTY);
  await tree.grow(port.commitments(0, head.size));
  if (tree.root() === head.root) await port.keep({ ...tree.peaks(), note: noteOf(head, key()) });
}

function noteOf(head: SignedHead, key: SigningKey): string {
  return signNote(`${textOfHead(head)}${head.signedAt}\n`, key);
}

type Previous = Awaited<ReturnType<typeof readCompleteLeaf>>;

/**
 * Throws if this program did not write an unsigned leaf, or if the newest leaf of a numbered kind was changed or hidden,
 * because then the sealer would skip or repeat numbers.
 */
async function assertEnds(
  { port, key, lastSigned }: Signing,
  ends: LogEnds,
  { leaf, fields }: Previous,
): Promise<void> {
  const signed = lastSigned.read()?.size ?? 0;
  assertAuthentic(await port.leaves({ places: [signed - 1] }), key().codeKeys);
  for await (const leaves of port.walk(signed, ends.size)) assertOwn(leaves, key().codeKeys);
  const newest = await Promise.all(NUMBERED.map(kind => port.leaves({ kind, numbers: [ends[kind]] })));
  assertAuthentic([...newest.flat(), ...(leaf === undefined ? [] : [leaf])], key().codeKeys);
  const least = { change: 0, sync: fields.sync_up_to, unchanged: fields.span_up_to };
  for (const kind of NUMBERED)
    if (ends[kind] < least[kind])
      refuse(
        `not signed: ${kind} ${least[kind]} was sealed, and its leaf is not there, see "carbon-mirror verify"`,
      );
}

/**
 * Returns a guard of what the sealer counts, once it has checked two things: the last leaf of the newest checkpoint lists
 * what is there, but for what was erased since, and no leaf was erased except by `forget` and `purge`.
 */
async function guardOf({ port, key }: Sealing, previous: Previous, size: number): Promise<LeafGuard> {
  const { codeKeys } = key();
  const told = await port.leaves({ told: size });
  assertAuthentic(told, codeKeys);
  const erasures = told.filter(({ kind }) => kind === 'forget' || kind === 'purge');
  const later = (place: number) => erasures.filter(each => each.place > place);
  const total = (leaves: readonly Leaf[], name: string) =>
    leaves.reduce((sum, leaf) => sum + Number(recordOf(leaf)[name] ?? 0), 0);
  const listed = await readNamedLeaves(port, Math.max(0, previous.place));
  const leaves = [...listed.organizations, ...listed.coverage, ...listed.told];
  assertAuthentic(leaves, codeKeys);
  if (sumOfPlaces(leaves) + total(later(previous.place), 'unlisted_places') !== previous.listedPlaces)
    refuse(
      `not signed: leaf ${previous.place} lists other leaves than are there, see "carbon-mirror verify"`,
    );
  const digests = erasures.map(each => recordOf(each)['erased_sha256']);
  const erased = digests.findLast(each => each !== undefined) ?? NOTHING_ERASED;
  if ((await hashErasedPlaces(port)) !== erased)
    refuse('not signed: leaves were erased, but not by forget or purge, see "carbon-mirror verify"');
  return {
    assertAuthentic: all => assertAuthentic(all, codeKeys),
    countErased: place => total(later(place), 'erased_changes'),
  };
}

/**
 * Signs the tree of all leaves, if its beginning is the newest tree that the key has signed, whatever the database says.
 * The instant comes from the last leaf, so a round that was killed between signing and storing is signed again as it was.
 */
async function signTree(
  { port, key: readKey, lastSigned }: Sealing,
  size: number,
  sealedAt: string,
): Promise<void> {
  const key = readKey();
  const flushed = lastSigned.read();
  if (size === 0 && flushed === null) return;
  const stored = openNote((await port.checkpoint(ALL))?.note ?? '', key);
  const heads = [flushed, stored === null ? null : headOf(stored)].filter(head => head !== null);
  const [last] = heads.toSorted((a, b) => b.size - a.size);
  const origin = last?.origin ?? key.name;
  const signed = last?.size ?? 0;
  if (signed > size) refuse(`not signed: the log has ${size} leaves, and ${signed} were signed`);
  const known = (await port.checkpoint(signed)) ?? EMPTY;
  const tree = await growSigned(port, known, last);
  if (signed === size && known.size === size) return;
  for await (const leaves of port.walk(signed, size)) {
    assertAuthentic(leaves, key.codeKeys);
    for (const { commitment } of leaves) tree.add(commitment);
  }
  const { size: grown } = tree.peaks();
  if (grown !== size) refuse(`not signed: of ${size} leaves ${grown} are there`);
  const head = { origin, size, root: tree.root(), signedAt: sealedAt };
  lastSigned.write(head);
  await port.keep({ ...tree.peaks(), note: noteOf(head, key) });
}
