import { getSignedAt } from './checkpoint.js';
import { readCompleteLeaf } from './completeness-leaves.js';
import { EvidenceError } from './evidence-error.js';
import { NO_LIMIT, type LogProgress, type EvidencePort } from './port.js';
import { type Sealing } from './log-writer.js';
import { streamUnsealed } from './unsealed-observations.js';
import { assertSealable } from './seal-guards.js';

/** Rounds start each minute, and take longer after a first sync. */
const LATE_MS = 5 * 60_000;

/** Counts the changes that no leaf contains, and returns when the first of them was observed. */
export async function findUnsealedChanges(port: EvidencePort, progress: LogProgress) {
  let [changes, oldest] = [0, ''];
  for await (const { kind, record } of streamUnsealed(
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

/** Describes what waits for too long to be sealed or signed; null if nothing does. */
export async function findOverdueSeal(port: EvidencePort, now: number): Promise<string | null> {
  const isLate = (at: string) => now - Date.parse(at) > LATE_MS;
  const progress = await port.readProgress();
  const { changes, oldest } = await findUnsealedChanges(port, progress);
  if (isLate(oldest)) return `${changes} changes are not sealed, the oldest of ${oldest}`;
  const newest = await port.findCheckpoint(NO_LIMIT);
  if ((newest?.size ?? 0) === progress.size) return null;
  if (newest === null) return `${progress.size} leaves are sealed, and no checkpoint was ever signed`;
  const at = getSignedAt(newest.note);
  if (!isLate(at)) return null;
  return `${progress.size - newest.size} leaves are not signed, the newest checkpoint is of ${at}`;
}

const REMINDER_DAYS = 40;
const DAY_MS = 86_400_000;

/** Returns why nobody outside could prove that the log was rewritten; null if a checkpoint left this machine recently. */
export async function findOverduePublication(
  port: EvidencePort,
  now: number,
  { isPublished, hasAuthority }: { readonly isPublished: boolean; readonly hasAuthority: boolean },
): Promise<string | null> {
  const [first] = await port.listCheckpoints(0, NO_LIMIT, 1);
  const daysSince = (at: string) => (now - Date.parse(at)) / DAY_MS;
  if (first === undefined) return null;
  const stamped = await port.findNewestAttestation('timestamp');
  const stampedAt = stamped?.requested_at ?? getSignedAt(first.note);
  if (hasAuthority && daysSince(stampedAt) > 2)
    return `the newest timestamp of a checkpoint is ${stamped === null ? 'missing' : `of ${stampedAt}`}: the authority of EVIDENCE_TIMESTAMP_URL did not answer`;
  const newest = await port.findNewestAttestation(null);
  const lastAt = newest?.requested_at ?? getSignedAt(first.note);
  if (isPublished || daysSince(lastAt) <= REMINDER_DAYS) return null;
  return `no checkpoint was printed, published or timestamped since ${lastAt}`;
}

/** Returns why the sealer would refuse to sign, or which checkpoint is missing; null if nothing is wrong. */
export async function findSealingRefusal(
  sealing: Pick<Sealing, 'port' | 'key' | 'lastSigned'>,
): Promise<string | null> {
  const { port, lastSigned } = sealing;
  try {
    await assertSealable(sealing);
  } catch (error) {
    if (error instanceof EvidenceError) return error.message;
    throw error;
  }
  const { fields } = await readCompleteLeaf(port, lastSigned.read()?.size ?? 0);
  const { previous_size: size } = fields;
  if (size === 0 || (await port.findCheckpoint(size))?.size === size) return null;
  return `the checkpoint of ${size} leaves was deleted`;
}
