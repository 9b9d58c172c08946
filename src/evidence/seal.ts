import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises';
import { createLeaf, parseLeafRecord } from './leaf.js';
import {
  createCompleteObservation,
  streamOrganizationObservations,
  readCompleteLeaf,
  readNamedLeaves,
} from './completeness-leaves.js';
import { refuse } from './evidence-error.js';
import {
  NO_LIMIT,
  type Cells,
  type EvidencePort,
  type Leaf,
  type Observation,
  NUMBERED_KINDS,
} from './port.js';
import { RELEASED_LOCK, LEAF_SALT_BYTES, type Sealing } from './log-writer.js';
import { assertSameKey, assertNewestLeaves, createLeafGuard } from './seal-guards.js';
import { storeLastSigned, signTree } from './sign-tree.js';
import { streamUnsealedSpans, streamUnsealed } from './unsealed-observations.js';

const LOCK_MS = 120_000;
const MAX_LEAVES_PER_WRITE = 5000;
const LOCK_RETRY_MS = 200;

/**
 * Runs one round: appends what is new, and signs the tree if it has grown. Returns the number of leaves, or null while
 * another process seals. For `exported` organizations the round also seals the open spans of unchanged reads, so that an
 * export says when their lists were last read. A round without an export leaves them out, because they would take some
 * two million leaves in 90 days for 1,000 organizations.
 */
export async function seal(sealing: Sealing, exported: readonly string[] = []): Promise<number | null> {
  const { port, holder, now } = sealing;
  if (!(await acquireLock(sealing))) return null;
  const release = () => port.acquireLock(holder, now(), RELEASED_LOCK);
  let size: number;
  try {
    size = await runRound(sealing, exported);
  } catch (error) {
    // Otherwise the next export would wait until the lock expires. An error of the release must not hide this one.
    await release().catch(() => undefined);
    throw error;
  }
  await release();
  return size;
}

/** Runs one round under the lock. Returns the number of leaves. */
async function runRound(sealing: Sealing, exported: readonly string[]): Promise<number> {
  const { port, now } = sealing;
  const progress = await port.readProgress();
  const previous = await readCompleteLeaf(port, progress.size);
  await assertSameKey(sealing);
  await storeLastSigned(sealing);
  await assertNewestLeaves(sealing, progress, previous);
  const upTo = await port.findNewestNumber('change', progress.change);
  const log = await openLog(sealing, progress.size);
  await log.append(streamUnsealed(port, progress, upTo));
  for (const each of exported) await log.append(streamUnsealedSpans(port, each, log.size()));
  const since = { upTo: previous.fields.up_to, place: previous.place };
  const isNew = log.size() !== previous.place + 1;
  if (isNew || exported.length > 0) {
    const guard = await createLeafGuard(sealing, previous, log.size());
    await log.append(
      streamOrganizationObservations(port, since, { upTo, before: log.size() }, exported, guard),
    );
  }
  let { sealed_at } = previous.fields;
  if (log.size() !== previous.place + 1) {
    const instants = [sealed_at, getLastSignedAt(sealing), await log.latestInstant(previous)];
    sealed_at = findLatest([new Date(now()).toISOString(), ...instants]);
    const previous_size = (await readCompleteLeaf(port, sealing.lastSigned.read()?.size ?? 0)).place + 1;
    const { sync, unchanged } = await port.readProgress();
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
  const newest = await sealing.port.listLeaves({ newest: 'organization', before: NO_LIMIT });
  const sealed = newest.map(({ subject }) => String(subject));
  const exported = sealed.filter(each => organizationId === null || each === organizationId);
  for (;;) {
    const size = await seal(sealing, exported);
    if (size !== null) return size;
    await sleep(LOCK_RETRY_MS);
    if (sealing.signal.aborted) refuse('not signed: it was interrupted');
  }
}

/** Opens the end of the log, to append leaves in large writes. */
async function openLog(sealing: Sealing, start: number) {
  const { port, key, now, randomBytes } = sealing;
  const [codeKey] = key().codeKeys;
  let [written, lockedAt, latest]: [number, number, string] = [start, now(), ''];
  let waiting: Observation[] = [];
  const write = async () => {
    lockedAt = now();
    /** One call for all, because each call takes as long. */
    const salts = randomBytes(LEAF_SALT_BYTES * waiting.length);
    const saltOf = (at: number) => salts.subarray(at * LEAF_SALT_BYTES, (at + 1) * LEAF_SALT_BYTES);
    if (waiting.length > 0)
      await port.appendLeaves(
        waiting.map((observation, at) => createLeaf(observation, saltOf(at), written + at, codeKey)),
      );
    [written, waiting] = [written + waiting.length, []];
    await breathe();
    if (!(await acquireLock(sealing))) refuse('not signed: another seals meanwhile, or this one is to stop');
  };
  return {
    size: (): number => written,
    append: async (observations: AsyncIterable<Observation> | Iterable<Observation>): Promise<void> => {
      for await (const observation of observations) {
        latest = findLatest([latest, ...listInstants(observation.record)]);
        waiting.push(observation);
        if (waiting.length === MAX_LEAVES_PER_WRITE || now() > lockedAt + LOCK_MS / 4) await write();
      }
      await write();
    },
    /** Returns the latest instant in what was appended after a checkpoint, also by rounds that were killed. */
    latestInstant: async ({ place }: { readonly place: number }): Promise<string> => {
      for await (const leaves of port.iterateLeaves(place + 1, start))
        for (const record of await readLeafRecords(port, leaves))
          latest = findLatest([latest, ...listInstants(record)]);
      return latest;
    },
  };
}

/** Returns the records of leaves that still have one: from the mirror, or from the leaf itself. */
async function readLeafRecords(port: EvidencePort, leaves: readonly Leaf[]): Promise<readonly Cells[]> {
  const records = leaves.map(parseLeafRecord);
  for (const kind of NUMBERED_KINDS) {
    const numbers = leaves.filter(leaf => leaf.kind === kind).map(({ number }) => number);
    if (numbers.length === 0) continue;
    const observations = await port.listObservations(kind, Math.min(...numbers) - 1, Math.max(...numbers));
    records.push(...observations.map(({ record }) => record));
  }
  return records;
}

/** Instants of observations. The instant of a checkpoint must not be earlier than any that it covers. */
const INSTANTS = ['valid_from', 'ended_at', 'last_answer_at', 'finished_at', 'last_finished_at', 'at'];

function listInstants(record: Cells): readonly string[] {
  return INSTANTS.flatMap(name => {
    const cell = record[name];
    return typeof cell === 'string' ? [cell] : [];
  });
}

/** Instants are written with the same number of digits, so their texts compare as the instants do. */
function findLatest(instants: readonly string[]): string {
  return instants.reduce((latest, each) => (each > latest ? each : latest), '');
}

/** Returns the instant that the key signed last; empty if it signed nothing. */
function getLastSignedAt({ lastSigned }: Sealing): string {
  return lastSigned.read()?.signedAt ?? '';
}

async function acquireLock({ port, holder, now, signal }: Sealing): Promise<boolean> {
  return !signal.aborted && (await port.acquireLock(holder, now(), now() + LOCK_MS));
}
