import { setImmediate as breathe } from 'node:timers/promises';
import { headOf, textOfHead } from './checkpoint.js';
import { canonicalJson, leafOf } from './commitment.js';
import { readComplete, readMonths, readNamed } from './complete.js';
import { refuse } from './errors.js';
import type { LastSigned } from './key-file.js';
import { openNote, signNote, type SigningKey } from './note.js';
import { ALL, type EvidencePort, type Observation, NUMBERED, type Numbered } from './port.js';
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

/** One round: appends what is new, and signs the tree where it has grown. Answers its size; null where somebody else seals. */
export async function seal(sealing: Sealing): Promise<number | null> {
  const { port, holder, now } = sealing;
  if (!(await hasClaim(sealing))) return null;
  const ends = await port.ends();
  const upTo = await port.newest('change', ends.change);
  let size = await append(sealing, ends.size, unsealed(port, ends, upTo));
  const said = await readComplete(port, size);
  if (size !== (said.leaf?.place ?? -1) + 1) {
    size = await append(sealing, size, changedOrganizations(port, said.upTo, upTo));
    const { fact } = await readNamed(port, size, upTo);
    size = await append(sealing, size, [fact]);
  }
  await signTree(sealing, size);
  await port.claim(holder, now(), RELEASED);
  return size;
}

/** Many leaves are written at once. Answers how many there are now. */
async function append(
  sealing: Sealing,
  size: number,
  facts: AsyncIterable<Observation> | Iterable<Observation>,
): Promise<number> {
  const { port, now, randomBytes } = sealing;
  let [written, claimedAt, waiting]: [number, number, Observation[]] = [size, now(), []];
  const write = async () => {
    claimedAt = now();
    /** Asked for all at once: each question takes as long. */
    const salts = randomBytes(SALT_BYTES * waiting.length);
    const saltOf = (at: number) => salts.subarray(at * SALT_BYTES, (at + 1) * SALT_BYTES);
    if (waiting.length > 0)
      await port.append(waiting.map((fact, at) => leafOf(saltOf(at), fact, written + at)));
    [written, waiting] = [written + waiting.length, []];
    await breathe();
    if (!(await hasClaim(sealing))) refuse('not signed: another seals meanwhile, or this one is to stop');
  };
  for await (const fact of facts) {
    waiting.push(fact);
    if (waiting.length === IN_ONE_WRITE || now() > claimedAt + CLAIM_MS / 4) await write();
  }
  await write();
  return written;
}

/** What no leaf speaks of yet. */
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

/** What is to be said anew of organizations, since that was said last. */
async function* changedOrganizations(port: EvidencePort, since: number, upTo: number) {
  for (const each of await port.touched(since, upTo)) yield (await readMonths(port, each, upTo)).fact;
}

async function hasClaim({ port, holder, now, signal }: Sealing): Promise<boolean> {
  return !signal.aborted && (await port.claim(holder, now(), now() + CLAIM_MS));
}

/** Only what the key has signed before, and more: whatever the database says. */
async function signTree({ port, key: readKey, lastSigned, now }: Sealing, size: number): Promise<void> {
  const key = readKey();
  const flushed = lastSigned.read();
  if (size === 0 && flushed === null) return;
  const stored = openNote((await port.checkpoint(ALL))?.note ?? '', key);
  const heads = [flushed, stored === null ? null : headOf(stored)].filter(head => head !== null);
  /** A log that was put back has the instant behind its name. */
  for (const { origin: of } of heads)
    if (!`${of}/`.startsWith(`${key.name}/`)) refuse(`not signed: the last tree was one of ${of}`);
  const [last] = heads.toSorted((a, b) => b.size - a.size);
  const origin = heads[0]?.origin ?? key.name;
  const signed = last?.size ?? 0;
  if (signed > size) refuse(`not signed: the log has ${size} leaves, and ${signed} were signed`);
  const known = (await port.checkpoint(signed)) ?? EMPTY;
  const tree = growTree(known);
  await tree.grow(port.commitments(known.size, signed));
  if (last !== undefined && tree.root() !== last.root)
    refuse(`not signed: the first ${signed} leaves are not those that were signed`);
  if (signed === size && known.size === size) return;
  await tree.grow(port.commitments(signed, size));
  const { size: there } = tree.peaks();
  if (there !== size) refuse(`not signed: of ${size} leaves ${there} are there`);
  const head = { origin, size, root: tree.root() };
  lastSigned.write(head);
  const note = signNote(`${textOfHead(head)}${new Date(now()).toISOString()}\n`, key);
  await port.keep({ ...tree.peaks(), note });
}
