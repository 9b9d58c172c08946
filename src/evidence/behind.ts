import { signedAt } from './checkpoint.js';
import { ALL, type EvidencePort } from './port.js';

/** A round comes each minute, and takes a while after a first sync. */
const LATE_MS = 5 * 60_000;
const AT_ONCE = 1000;

/** What waits for too long to be sealed or signed; null where nothing does. */
export async function findUnsealed(port: EvidencePort, now: number): Promise<string | null> {
  const isLate = (at: string) => now - Date.parse(at) > LATE_MS;
  const { size, change } = await port.ends();
  const [oldest] = await port.facts('change', change, change + AT_ONCE);
  const observedAt = String(oldest?.record['valid_from'] ?? oldest?.record['ended_at'] ?? '');
  if (isLate(observedAt)) {
    const waiting = (await port.newest('change', change)) - change;
    return `${waiting} changes are not sealed, the oldest of ${observedAt}`;
  }
  const newest = await port.checkpoint(ALL);
  if ((newest?.size ?? 0) === size) return null;
  if (newest === null) return `${size} leaves are sealed, and no checkpoint was ever signed`;
  const at = signedAt(newest.note);
  if (!isLate(at)) return null;
  return `${size - newest.size} leaves are not signed, the newest checkpoint is of ${at}`;
}
