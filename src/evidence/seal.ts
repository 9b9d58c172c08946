import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises';
import { createLeaf, parseLeafRecord } from './leaf.js';
import {
  createCheckpointLeafInput,
  streamOrganizationLeafInputs,
  readCheckpointLeaf,
  readNamedLeaves,
} from './completeness-leaves.js';
import { throwEvidenceError } from './evidence-error.js';
import {
  NO_LIMIT,
  type LeafRecord,
  type EvidencePort,
  type Leaf,
  type LeafInput,
  NUMBERED_KINDS,
} from './port.js';
import { RELEASED_LOCK, LEAF_SALT_BYTES, type Sealer } from './log-writer.js';
import { assertSameKey, assertNewestLeaves, createLeafGuard } from './seal-guards.js';
import { storeMissingCheckpoint, signTree } from './sign-tree.js';
import { streamUnsealedSpans, streamUnsealedInputs } from './unsealed-inputs.js';

/** How long a sealing run holds the lock of the log before the lock expires. Each write prolongs the lock. */
const LOCK_MS = 120_000;
const MAX_LEAVES_PER_WRITE = 5000;
const LOCK_RETRY_MS = 200;

/**
 * Seals the mirror once: appends a leaf for everything that is new, and signs a checkpoint if the log has grown. Returns the size of the
 * log, or null if another process is sealing or the sealer was stopped.
 *
 * A span is a series of scheduled reads of one list that found nothing new. Usually, a span is sealed once it has ended. For the
 * organizations in `exported` (ids), spans that still continue are sealed too, so that an export says when their lists were last read.
 * Sealing them in every run would take some two million leaves in 90 days for 1,000 organizations.
 */
export async function sealLog(sealer: Sealer, exported: readonly string[] = []): Promise<number | null> {
  const { port, holder, now } = sealer;
  if (!(await acquireLock(sealer))) return null;
  const releaseLock = () => port.acquireLock(holder, now(), RELEASED_LOCK);
  let size: number;
  try {
    size = await appendAndSign(sealer, exported);
  } catch (error) {
    // Otherwise the next export would wait until the lock expires. An error of the release must not hide this one.
    await releaseLock().catch(() => undefined);
    throw error;
  }
  await releaseLock();
  return size;
}

/** Does the work of `sealLog` under the lock. Returns the size of the log. */
async function appendAndSign(sealer: Sealer, exported: readonly string[]): Promise<number> {
  const { port, now } = sealer;
  const progress = await port.readProgress();
  const previous = await readCheckpointLeaf(port, progress.size);
  await assertSameKey(sealer);
  await storeMissingCheckpoint(sealer);
  await assertNewestLeaves(sealer, progress, previous);
  const upTo = await port.findNewestNumber('change', progress.change);
  const log = createLogAppender(sealer, progress.size);
  await log.append(streamUnsealedInputs(port, progress, upTo));
  for (const each of exported) await log.append(streamUnsealedSpans(port, each, log.size()));
  const lastSealed = { upTo: previous.fields.up_to, place: previous.place };
  const isNew = log.size() !== previous.place + 1;
  if (isNew || exported.length > 0) {
    const guard = await createLeafGuard(sealer, previous, log.size());
    await log.append(
      streamOrganizationLeafInputs(port, lastSealed, { upTo, beforeIndex: log.size() }, exported, guard),
    );
  }
  let { sealed_at } = previous.fields;
  if (log.size() !== previous.place + 1) {
    const instants = [sealed_at, getLastSignedAt(sealer), await log.findLatestInstantAfter(previous)];
    sealed_at = findLatestInstant([new Date(now()).toISOString(), ...instants]);
    const previous_size = (await readCheckpointLeaf(port, sealer.lastSigned.read()?.size ?? 0)).place + 1;
    const { sync, unchanged } = await port.readProgress();
    const fields = { up_to: upTo, sealed_at, previous_size, sync_up_to: sync, span_up_to: unchanged };
    await log.append([createCheckpointLeafInput(await readNamedLeaves(port, log.size()), fields)]);
  }
  await signTree(sealer, log.size(), sealed_at);
  return log.size();
}

/**
 * Seals the mirror before an export of one organization, or of all for a null id. Waits until no other process is sealing.
 * Returns the size of the log. Throws an EvidenceError if it is interrupted.
 */
export async function sealForExport(sealer: Sealer, organizationId: string | null): Promise<number> {
  const newest = await sealer.port.listLeaves({ newest: 'organization', beforeIndex: NO_LIMIT });
  const sealed = newest.map(({ subject }) => String(subject));
  const exported = sealed.filter(each => organizationId === null || each === organizationId);
  for (;;) {
    const size = await sealLog(sealer, exported);
    if (size !== null) return size;
    await sleep(LOCK_RETRY_MS);
    if (sealer.signal.aborted) throwEvidenceError('not signed: it was interrupted');
  }
}

/** Appends leaves to the log in one sealing run. */
interface LogAppender {
  /** Returns the size of the log, without leaves that wait to be written. */
  readonly size: () => number;
  /** Appends leaves, and returns once all of them are written. */
  readonly append: (inputs: AsyncIterable<LeafInput> | Iterable<LeafInput>) => Promise<void>;
  /**
   * Returns the latest instant in the records of all leaves after a checkpoint leaf: those that were appended here, and those of
   * earlier runs that were killed.
   */
  readonly findLatestInstantAfter: (leaf: { readonly place: number }) => Promise<string>;
}

/**
 * Creates an appender of leaves to the log from the index `start` on. `append` writes leaves in large batches. It prolongs the
 * writer lock of the log with each batch, and begins a new batch early if the lock would otherwise expire.
 */
function createLogAppender(sealer: Sealer, start: number): LogAppender {
  const { port, key, now, randomBytes } = sealer;
  const [codeKey] = key().codeKeys;
  let [written, lockedAt, latest]: [number, number, string] = [start, now(), ''];
  let waiting: LeafInput[] = [];
  /** Writes the waiting leaves and prolongs the lock. Throws if the lock is lost or the sealer was stopped. */
  const write = async () => {
    lockedAt = now();
    /** The salts of all leaves come from one call, because a call takes the same time for one salt as for many. */
    const salts = randomBytes(LEAF_SALT_BYTES * waiting.length);
    const getSalt = (position: number) =>
      salts.subarray(position * LEAF_SALT_BYTES, (position + 1) * LEAF_SALT_BYTES);
    if (waiting.length > 0)
      await port.appendLeaves(
        waiting.map((input, position) => createLeaf(input, getSalt(position), written + position, codeKey)),
      );
    [written, waiting] = [written + waiting.length, []];
    await breathe();
    if (!(await acquireLock(sealer)))
      throwEvidenceError('not signed: another seals meanwhile, or this one is to stop');
  };
  return {
    size: () => written,
    append: async inputs => {
      for await (const input of inputs) {
        latest = findLatestInstant([latest, ...listInstants(input.record)]);
        waiting.push(input);
        if (waiting.length === MAX_LEAVES_PER_WRITE || now() > lockedAt + LOCK_MS / 4) await write();
      }
      await write();
    },
    findLatestInstantAfter: async ({ place }) => {
      for await (const leaves of port.iterateLeaves(place + 1, start))
        for (const record of await readLeafRecords(port, leaves))
          latest = findLatestInstant([latest, ...listInstants(record)]);
      return latest;
    },
  };
}

/** Returns the records of leaves. A record is stored in its leaf or in the mirror. Omits records that the mirror no longer has. */
async function readLeafRecords(port: EvidencePort, leaves: readonly Leaf[]): Promise<readonly LeafRecord[]> {
  const records = leaves.map(parseLeafRecord);
  for (const kind of NUMBERED_KINDS) {
    const numbers = leaves.filter(leaf => leaf.kind === kind).map(({ number }) => number);
    if (numbers.length === 0) continue;
    const inputs = await port.listNumberedInputs(kind, Math.min(...numbers) - 1, Math.max(...numbers));
    records.push(...inputs.map(({ record }) => record));
  }
  return records;
}

/** The fields of a record that contain an instant. A checkpoint must not be signed with an earlier instant than it covers. */
const INSTANT_FIELDS = ['valid_from', 'ended_at', 'last_answer_at', 'finished_at', 'last_finished_at', 'at'];

/** Returns the instants in a record at which something was observed or done. */
function listInstants(record: LeafRecord): readonly string[] {
  return INSTANT_FIELDS.flatMap(name => {
    const cell = record[name];
    return typeof cell === 'string' ? [cell] : [];
  });
}

/** Returns the latest of some instants; empty if there is none. All have the same number of digits, so they compare as texts. */
function findLatestInstant(instants: readonly string[]): string {
  return instants.reduce((latest, each) => (each > latest ? each : latest), '');
}

/** Returns the instant of the newest checkpoint that the key has signed; empty if it has signed none. */
function getLastSignedAt({ lastSigned }: Sealer): string {
  return lastSigned.read()?.signedAt ?? '';
}

/** Acquires the writer lock, or prolongs it if held. Returns false if another process holds it or the sealer was stopped. */
async function acquireLock({ port, holder, now, signal }: Sealer): Promise<boolean> {
  return !signal.aborted && (await port.acquireLock(holder, now(), now() + LOCK_MS));
}
