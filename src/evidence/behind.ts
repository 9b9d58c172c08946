import { signedAt } from './checkpoint.js';
import { ALL, type Ends, type EvidencePort } from './port.js';
import { unsealed } from './seal.js';

/** A round comes each minute, and takes a while after a first sync. */
const LATE_MS = 5 * 60_000;

/** Changes that no leaf speaks of yet, and when the first of them was observed. */
export async function findWaiting(port: EvidencePort, ends: Ends) {
  let [changes, oldest] = [0, ''];
  for await (const { kind, record } of unsealed(port, ends, await port.newest('change', ends.change))) {
    if (kind !== 'change') break;
    changes += 1;
    oldest ||= String(record['valid_from'] ?? record['ended_at']);
  }
  return { changes, oldest };
}

/** What waits for too long to be sealed or signed; null where nothing does. */
export async function findUnsealed(port: EvidencePort, now: number): Promise<string | null> {
  const isLate = (at: string) => now - Date.parse(at) > LATE_MS;
  const ends = await port.ends();
  const { changes, oldest } = await findWaiting(port, ends);
  if (isLate(oldest)) return `${changes} changes are not sealed, the oldest of ${oldest}`;
  const newest = await port.checkpoint(ALL);
  if ((newest?.size ?? 0) === ends.size) return null;
  if (newest === null) return `${ends.size} leaves are sealed, and no checkpoint was ever signed`;
  const at = signedAt(newest.note);
  if (!isLate(at)) return null;
  return `${ends.size - newest.size} leaves are not signed, the newest checkpoint is of ${at}`;
}
