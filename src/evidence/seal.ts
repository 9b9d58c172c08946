import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises';
import { type Head, headOf, textOfHead } from './checkpoint.js';
import { canonicalJson, commit } from './commitment.js';
import { changedOrganizations, readComplete, readOrganizations } from './complete.js';
import { EvidenceError } from './errors.js';
import type { LastSigned } from './key-file.js';
import { openNote, signNote, type SigningKey } from './note.js';
import {
  type EvidencePort,
  type Fact,
  factOf,
  type Leaf,
  NUMBERED,
  type Numbered,
  type Unsalted,
} from './port.js';
import { EMPTY, growTree } from './tree.js';

export interface Sealing {
  readonly port: EvidencePort;
  readonly key: () => SigningKey;
  readonly lastSigned: LastSigned;
  readonly now: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
  /** A name of its own for who seals. */
  readonly holder: string;
  readonly signal: AbortSignal;
}

const AT_ONCE = 1000;
const CLAIM_MS = 120_000;
/** Long over, also for a clock that stands still or was set back. */
const RELEASED = 0;
export const SALT_BYTES = 32;
const IN_ONE_WRITE = 5000;
const CLAIM_LOOK_MS = 200;
/** No purge takes longer, and who is killed keeps nobody from sealing for longer. */
const ERASE_MS = 600_000;

/** One round: appends what is new, and signs the tree where it has grown. Answers its size; null where somebody else seals. */
export async function seal(sealing: Sealing): Promise<number | null> {
  const { port, holder, now } = sealing;
  if (!(await hasClaim(sealing))) return null;
  const ends = await port.ends();
  const upTo = await port.newest('change', ends.change);
  let size = await append(sealing, ends.size, unsealed(port, ends, upTo));
  const complete = size === null ? null : await readComplete(port, size);
  if (complete !== null && size !== (complete.leaf === null ? 0 : complete.leaf.place + 1)) {
    size = await append(sealing, size, changedOrganizations(port, complete.upTo, upTo));
    size = await append(sealing, size, sayComplete(port, size, upTo));
  }
  if (size === null) return null;
  await signTree(sealing, size);
  await port.claim(holder, now(), RELEASED);
  return size;
}

/** Many leaves are written at once. Answers how many there are now; null where somebody else seals meanwhile. */
async function append(
  sealing: Sealing,
  size: number | null,
  facts: AsyncIterable<Fact>,
): Promise<number | null> {
  if (size === null) return null;
  const salts = saltsOf(sealing);
  let [written, claimedAt, waiting]: [number, number, Leaf[]] = [size, sealing.now(), []];
  const write = async () => {
    claimedAt = sealing.now();
    if (waiting.length > 0) await sealing.port.append(waiting);
    written += waiting.length;
    waiting = [];
    await breathe();
    return await hasClaim(sealing);
  };
  for await (const fact of facts) {
    waiting.push(leafOf(salts.next().value, fact, written + waiting.length));
    const isDue = waiting.length === IN_ONE_WRITE || sealing.now() > claimedAt + CLAIM_MS / 4;
    if (isDue && !(await write())) return null;
  }
  return (await write()) ? written : null;
}

/** What no leaf speaks of yet. */
async function* unsealed(port: EvidencePort, ends: Record<Numbered, number>, newestChange: number) {
  const newest = { change: newestChange, sync: await port.newest('sync', ends.sync) };
  for (const kind of NUMBERED)
    for (let after = ends[kind]; after < newest[kind]; after += AT_ONCE)
      yield* await port.facts(kind, after, Math.min(newest[kind], after + AT_ONCE));
  const known = await port.leaves({ newest: 'coverage', before: Number.MAX_SAFE_INTEGER });
  const bySubject = new Map(known.map(({ subject, record }) => [subject, record]));
  for (const fact of await port.coverage())
    if (bySubject.get(fact.subject) !== canonicalJson(fact.record)) yield fact;
}

async function* sayComplete(port: EvidencePort, size: number | null, upTo: number): AsyncGenerator<Fact> {
  yield (await readOrganizations(port, size ?? 0, upTo)).fact;
}

async function hasClaim({
  port,
  holder,
  now,
  signal,
}: Omit<Sealing, 'key' | 'lastSigned'>): Promise<boolean> {
  const at = now();
  return !signal.aborted && (await port.claim(holder, at, at + CLAIM_MS));
}

/** Asked for many at a time: each question takes as long as all of these. */
function* saltsOf({ randomBytes }: Pick<Sealing, 'randomBytes'>): Generator<Uint8Array, never> {
  for (;;) {
    const many = randomBytes(SALT_BYTES * AT_ONCE);
    for (let at = 0; at < many.length; at += SALT_BYTES) yield many.subarray(at, at + SALT_BYTES);
  }
}

export function leafOf(salt: Uint8Array, fact: Fact, place: number): Leaf {
  const { kind, number, subject, resource, ended, observed, dated, micro } = fact;
  const text = canonicalJson(fact.record);
  const record = NUMBERED.some(each => each === kind) ? null : text;
  const told = { subject, resource, ended, observed, dated, micro, record };
  return { ...told, place, kind, number: number ?? place, salt, commitment: commit(salt, text) };
}

/** For one who writes the log beside the sealer, once that one has ended its round. */
export async function withClaim<T>(
  { port, now, holder }: Pick<Sealing, 'port' | 'now' | 'holder'>,
  work: () => Promise<T>,
): Promise<T> {
  while (!(await port.claim(holder, now(), now() + ERASE_MS))) await sleep(CLAIM_LOOK_MS);
  const done = await work();
  await port.claim(holder, now(), RELEASED);
  return done;
}

/** Takes the salts of what is removed meanwhile, and says of how many: what was sealed of it stays, and tells nothing. */
export async function erase<T>(
  sealing: Pick<Sealing, 'port' | 'now' | 'randomBytes' | 'holder'>,
  kind: 'forget' | 'purge',
  what: () => Promise<Unsalted>,
  remove: () => Promise<T>,
): Promise<T> {
  const { port, now, randomBytes } = sealing;
  return await withClaim(sealing, async () => {
    const gone = await what();
    const leaves = await port.salted(gone);
    const { size } = await port.ends();
    const fact = factOf(kind, { leaves, at: new Date(now()).toISOString() });
    if (leaves > 0) await port.append([leafOf(randomBytes(SALT_BYTES), fact, size)]);
    await port.unsalt(gone);
    return await remove();
  });
}

/** Only what the key has signed before, and more: whatever the database says. */
async function signTree({ port, key: readKey, lastSigned, now }: Sealing, size: number): Promise<void> {
  const key = readKey();
  if (size === 0 && lastSigned.read() === null) return;
  const stored = await port.checkpoint(Number.MAX_SAFE_INTEGER);
  const text = stored === null ? null : openNote(stored.note, key);
  const heads = [lastSigned.read(), text === null ? null : headOf(text)].filter(head => head !== null);
  for (const head of heads) if (!isOriginOf(key, head)) refuse(`the last tree was one of ${head.origin}`);
  const origin = heads[0]?.origin ?? key.name;
  const last = heads.toSorted((a, b) => b.size - a.size)[0] ?? null;
  if (last !== null && last.size > size) refuse(`the log has ${size} leaves, and ${last.size} were signed`);
  const known = (await port.checkpoint(last?.size ?? 0)) ?? EMPTY;
  const tree = growTree(known);
  const grow = async (from: number, to: number): Promise<void> => {
    for await (const each of port.commitments(from, to)) tree.add(each);
  };
  await grow(known.size, last?.size ?? 0);
  if (last !== null && tree.root() !== last.root)
    refuse(`the first ${last.size} leaves are not those that were signed`);
  if (last?.size === size && known.size === size) return;
  await grow(last?.size ?? 0, size);
  const head = { origin, size, root: tree.root() };
  if (tree.peaks().size !== size) refuse(`of ${size} leaves ${tree.peaks().size} are there`);
  lastSigned.write(head);
  const note = signNote(`${textOfHead(head)}${new Date(now()).toISOString()}\n`, key);
  await port.keep({ ...tree.peaks(), note });
}

/** A log that was put back has the instant behind its name. */
function isOriginOf({ name }: SigningKey, { origin }: Head): boolean {
  return origin === name || origin.startsWith(`${name}/`);
}

function refuse(why: string): never {
  throw new EvidenceError('refused', `not signed: ${why}`);
}
