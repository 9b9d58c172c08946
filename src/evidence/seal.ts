import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises';
import { type Head, headOf, textOfHead } from './checkpoint.js';
import { canonicalJson, commit } from './commitment.js';
import { changedOrganizations, completeFact, readOrganizations, upToOf } from './complete.js';
import { EvidenceError } from './errors.js';
import type { LastSigned } from './key-file.js';
import { openNote, signNote, type SigningKey } from './note.js';
import type { EvidencePort, Fact, Leaf, Unsalted } from './port.js';
import { EMPTY, growTree } from './tree.js';

export interface Sealing {
  readonly port: EvidencePort;
  readonly key: SigningKey;
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
const SALT_BYTES = 32;
/** What no row of the mirror says. */
const KEPT: ReadonlySet<Fact['kind']> = new Set(['complete', 'forget', 'purge', 'restore']);
const CLAIM_LOOK_MS = 200;
/** No purge takes longer, and who is killed keeps nobody from sealing for longer. */
const ERASE_MS = 600_000;

/** One round: appends what is new, and signs the tree where it has grown. Answers its size; null where somebody else seals. */
export async function seal(sealing: Sealing): Promise<number | null> {
  const { port } = sealing;
  if (!(await hasClaim(sealing))) return null;
  const ends = await port.ends();
  const newest = await port.newestChange();
  let size = ends.size;
  const append = async (facts: readonly Fact[]): Promise<boolean> => {
    const leaves = facts.map((fact, place) => leafOf(sealing, fact, size + place));
    if (leaves.length > 0) await port.append(size, leaves);
    size += leaves.length;
    await breathe();
    return await hasClaim(sealing);
  };
  for (let after = ends.change; after < newest; after += AT_ONCE)
    if (!(await append(await port.changes(after, Math.min(newest, after + AT_ONCE))))) return null;
  for (let after = ends.sync; ; ) {
    const syncs = await port.syncs(after, AT_ONCE);
    if (!(await append(syncs))) return null;
    if (syncs.length < AT_ONCE) break;
    after = syncs.at(-1)?.number ?? after;
  }
  if (!(await append(await newCoverage(port)))) return null;
  const complete = await port.newestComplete(size);
  if (size !== (complete === null ? 0 : complete.place + 1)) {
    const changed: Fact[] = [];
    for await (const fact of changedOrganizations(port, upToOf(complete), newest)) {
      changed.push(fact);
      await breathe();
    }
    for (let from = 0; from < changed.length; from += AT_ONCE)
      if (!(await append(changed.slice(from, from + AT_ONCE)))) return null;
    const { record } = await readOrganizations(port, size, newest);
    if (!(await append([completeFact(record)]))) return null;
  }
  await signTree(sealing, size);
  await port.claim(sealing.holder, sealing.now(), RELEASED);
  return size;
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

export function leafOf({ randomBytes }: Pick<Sealing, 'randomBytes'>, fact: Fact, place: number): Leaf {
  const { kind, number, subject, record } = fact;
  const salt = randomBytes(SALT_BYTES);
  const resource = kind === 'change' ? String(record['resource']) : null;
  const text = KEPT.has(kind) ? canonicalJson(record) : null;
  return {
    kind,
    number: number ?? place,
    subject,
    resource,
    record: text,
    salt,
    commitment: commit(salt, record),
  };
}

/** Takes the salts of what is removed meanwhile, and says of how many: what was sealed of it stays, and tells nothing. */
export async function erase<T>(
  sealing: Pick<Sealing, 'port' | 'now' | 'randomBytes' | 'holder'>,
  kind: 'forget' | 'purge',
  what: () => Promise<Unsalted>,
  remove: () => Promise<T>,
): Promise<T> {
  const { port, now, holder } = sealing;
  while (!(await port.claim(holder, now(), now() + ERASE_MS))) await sleep(CLAIM_LOOK_MS);
  const gone = await what();
  const leaves = await port.salted(gone);
  const { size } = await port.ends();
  const record = { kind, leaves, at: new Date(now()).toISOString() };
  if (leaves > 0)
    await port.append(size, [leafOf(sealing, { kind, number: null, subject: null, record }, size)]);
  await port.unsalt(gone);
  const removed = await remove();
  await port.claim(holder, now(), RELEASED);
  return removed;
}

async function newCoverage(port: EvidencePort): Promise<Fact[]> {
  const changed: Fact[] = [];
  for (const fact of await port.coverage()) {
    const known = await port.newestOf(fact.subject ?? '');
    const isKnown = known?.salt != null && commit(known.salt, fact.record).equals(known.commitment);
    if (!isKnown) changed.push(fact);
  }
  return changed;
}

/** Only what the key has signed before, and more: whatever the database says. */
async function signTree({ port, key, lastSigned, now }: Sealing, size: number): Promise<void> {
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
    for (let start = from; start < to; start += AT_ONCE)
      for (const each of await port.commitments(start, Math.min(to, start + AT_ONCE))) tree.add(each);
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
