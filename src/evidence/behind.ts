import type { EvidencePort } from './port.js';

/** A round comes each minute, and takes a while after a first sync. */
const LATE_MS = 5 * 60_000;
const AT_ONCE = 1000;

/** What waits for too long to be sealed or signed; null where nothing does. */
export async function findUnsealed(port: EvidencePort, now: number): Promise<string | null> {
  const { size, change } = await port.ends();
  const [oldest] = await port.facts('change', change, change + AT_ONCE);
  const observedAt = String(oldest?.record['valid_from'] ?? oldest?.record['ended_at'] ?? '');
  const waiting = (await port.newest('change', change)) - change;
  if (now - Date.parse(observedAt) > LATE_MS)
    return `${waiting} changes are not sealed, the oldest of ${observedAt}`;
  const newest = await port.checkpoint(Number.MAX_SAFE_INTEGER);
  const signedAt = newest?.note.split('\n')[3] ?? '';
  if (newest?.size === size || (size === 0 && newest === null)) return null;
  if (newest === null) return `${size} leaves are sealed, and no checkpoint was ever signed`;
  const isLate = now - Date.parse(signedAt) > LATE_MS;
  return isLate
    ? `${size - newest.size} leaves are not signed, the newest checkpoint is of ${signedAt}`
    : null;
}
