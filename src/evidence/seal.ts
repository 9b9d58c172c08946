import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises';
import { headOf, textOfHead } from './checkpoint.js';
import { canonicalJson, leafOf, recordOf } from './commitment.js';
import { observeComplete, observeOrganizations, readComplete, readNamed } from './complete.js';
import { refuse } from './errors.js';
import type { LastSigned } from './key-file.js';
import { openNote, signNote, type SigningKey } from './note.js';
import {
  ALL,
  type Cells,
  type EvidencePort,
  type Leaf,
  type Observation,
  NUMBERED,
  type Numbered,
} from './port.js';
import { EMPTY, growTree } from './tree.js';
import { RELEASED, SALT_BYTES, type Writing } from './write.js';

export interface Sealing extends Writing {
  readonly key: () => SigningKey;
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
  const ends = await port.ends();
  const upTo = await port.newest('change', ends.change);
  const previous = await readComplete(port, ends.size);
  const log = await openLog(sealing, ends.size);
  await log.append(unsealed(port, ends, upTo));
  for (const each of exported) await log.append(unsealedSpans(port, each, log.size()));
  const since = { upTo: previous.fields.up_to, place: previous.place };
  const isNew = log.size() !== previous.place + 1;
  if (isNew || exported.length > 0)
    await log.append(observeOrganizations(port, since, { upTo, before: log.size() }, exported));
  let { sealed_at } = previous.fields;
  if (log.size() !== previous.place + 1) {
    const instants = [sealed_at, newestSignedAt(sealing), await log.latestInstant(previous)];
    sealed_at = latestOf([new Date(now()).toISOString(), ...instants]);
    const previous_size = (await port.checkpoint(ALL))?.size ?? 0;
    const fields = { up_to: upTo, sealed_at, previous_size };
    await log.append([observeComplete(await readNamed(port, log.size()), fields)]);
  }
  await signTree(sealing, log.size(), sealed_at);
  await port.claim(holder, now(), RELEASED);
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
  const { port, now, randomBytes } = sealing;
  let [written, claimedAt, latest]: [number, number, string] = [start, now(), ''];
  let waiting: Observation[] = [];
  const write = async () => {
    claimedAt = now();
    /** One call for all, because each call takes as long. */
    const salts = randomBytes(SALT_BYTES * waiting.length);
    const saltOf = (at: number) => salts.subarray(at * SALT_BYTES, (at + 1) * SALT_BYTES);
    if (waiting.length > 0)
      await port.append(waiting.map((fact, at) => leafOf(saltOf(at), fact, written + at)));
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
  /** After a restore, the name of the log is followed by an instant. */
  for (const { origin: name } of heads)
    if (!`${name}/`.startsWith(`${key.name}/`)) refuse(`not signed: the last tree was one of ${name}`);
  const [last] = heads.toSorted((a, b) => b.size - a.size);
  const origin = last?.origin ?? key.name;
  const signed = last?.size ?? 0;
  if (signed > size) refuse(`not signed: the log has ${size} leaves, and ${signed} were signed`);
  const known = (await port.checkpoint(signed)) ?? EMPTY;
  const tree = growTree(known);
  await tree.grow(port.commitments(known.size, signed));
  if (last !== undefined && tree.root() !== last.root)
    refuse(`not signed: the first ${signed} leaves are not those that were signed`);
  if (signed === size && known.size === size) return;
  await tree.grow(port.commitments(signed, size));
  const { size: grown } = tree.peaks();
  if (grown !== size) refuse(`not signed: of ${size} leaves ${grown} are there`);
  const head = { origin, size, root: tree.root(), signedAt: sealedAt };
  lastSigned.write(head);
  const note = signNote(`${textOfHead(head)}${sealedAt}\n`, key);
  await port.keep({ ...tree.peaks(), note });
}
