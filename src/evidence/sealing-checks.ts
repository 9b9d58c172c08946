import { getSignedAt } from './checkpoint.js';
import { readCheckpointLeaf } from './completeness-leaves.js';
import { EvidenceError } from './evidence-error.js';
import { NO_LIMIT, type LogProgress, type EvidencePort } from './port.js';
import { type Sealer } from './log-writer.js';
import { streamUnsealedInputs } from './unsealed-inputs.js';
import { assertSealable } from './seal-guards.js';

/** Data that waits longer is overdue. The sealer runs each minute, but takes longer after a first sync. */
const LATE_MS = 5 * 60_000;

/**
 * Counts the changes that are not sealed yet. Returns their number (`changes`) and the instant at which the first of them was observed
 * (`oldest`; an empty text if there are none).
 */
export async function countUnsealedChanges(port: EvidencePort, progress: LogProgress) {
  let [changes, oldest] = [0, ''];
  for await (const { kind, record } of streamUnsealedInputs(
    port,
    progress,
    await port.findNewestNumber('change', progress.change),
  )) {
    if (kind !== 'change') break;
    changes += 1;
    oldest ||= String(record['valid_from'] ?? record['ended_at']);
  }
  return { changes, oldest };
}

/**
 * Returns a sentence if changes have not been sealed for too long, or if leaves have not been signed for too long. Otherwise returns null.
 */
export async function findOverdueSeal(port: EvidencePort, now: number): Promise<string | null> {
  const isLate = (at: string) => now - Date.parse(at) > LATE_MS;
  const progress = await port.readProgress();
  const { changes, oldest } = await countUnsealedChanges(port, progress);
  if (isLate(oldest)) return `${changes} changes are not sealed, the oldest of ${oldest}`;
  const newest = await port.findCheckpoint(NO_LIMIT);
  if ((newest?.size ?? 0) === progress.size) return null;
  if (newest === null) return `${progress.size} leaves are sealed, and no checkpoint was ever signed`;
  const at = getSignedAt(newest.note);
  if (!isLate(at)) return null;
  return `${progress.size - newest.size} leaves are not signed, the newest checkpoint is of ${at}`;
}

/** How long ago a checkpoint may last have left this machine. */
const REMINDER_DAYS = 40;
const DAY_MS = 86_400_000;

/**
 * Returns a sentence if no checkpoint has left this machine for a long time. Only a checkpoint that somebody else has can prove that the
 * log was not rewritten. Returns null if a checkpoint left this machine recently, or if none was ever signed.
 *
 * `isPublished` means that each checkpoint is written to a public file, and so leaves this machine. `hasTimestampAuthority` means that an
 * authority is asked to timestamp checkpoints. If so, also returns a sentence if no timestamp was obtained for more than two days.
 */
export async function findOverduePublication(
  port: EvidencePort,
  now: number,
  {
    isPublished,
    hasTimestampAuthority,
  }: { readonly isPublished: boolean; readonly hasTimestampAuthority: boolean },
): Promise<string | null> {
  const [first] = await port.listCheckpoints(0, NO_LIMIT, 1);
  const daysSince = (at: string) => (now - Date.parse(at)) / DAY_MS;
  if (first === undefined) return null;
  const stamped = await port.findNewestAttestation('timestamp');
  const stampedAt = stamped?.requested_at ?? getSignedAt(first.note);
  if (hasTimestampAuthority && daysSince(stampedAt) > 2)
    return `the newest timestamp of a checkpoint is ${stamped === null ? 'missing' : `of ${stampedAt}`}: the authority of EVIDENCE_TIMESTAMP_URL did not answer`;
  const newest = await port.findNewestAttestation(null);
  const lastAt = newest?.requested_at ?? getSignedAt(first.note);
  if (isPublished || daysSince(lastAt) <= REMINDER_DAYS) return null;
  return `no checkpoint was printed, published or timestamped since ${lastAt}`;
}

/**
 * Returns why the sealer would refuse to sign, as far as `assertSealable` can tell, or which earlier checkpoint was deleted. Null
 * if nothing is wrong.
 */
export async function findSealingRefusal(
  sealer: Pick<Sealer, 'port' | 'key' | 'lastSigned'>,
): Promise<string | null> {
  const { port, lastSigned } = sealer;
  try {
    await assertSealable(sealer);
  } catch (error) {
    if (error instanceof EvidenceError) return error.message;
    throw error;
  }
  const { fields } = await readCheckpointLeaf(port, lastSigned.read()?.size ?? 0);
  const { previous_size: size } = fields;
  if (size === 0 || (await port.findCheckpoint(size))?.size === size) return null;
  return `the checkpoint of ${size} leaves was deleted`;
}
