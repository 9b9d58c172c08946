import { getSignedAt } from './checkpoint.js';
import { toCanonicalJson, isCommittedTo } from './leaf.js';
import { NO_LIMIT, type EvidencePort } from './port.js';

/**
 * Returns a sentence about a change: which checkpoint covers it, that it is not sealed yet, or that its data in the mirror differs from the
 * data that was sealed.
 */
export async function describeSeal(port: EvidencePort, number: number): Promise<string> {
  const [leaf] = await port.listLeaves({ kind: 'change', numbers: [number] });
  const [covering] = leaf === undefined ? [] : await port.listCheckpoints(leaf.place, NO_LIMIT, 1);
  if (leaf === undefined || covering === undefined) return 'Not sealed yet.';
  const [change] = await port.listChangesByNumber(leaf.resource ?? '', [number]);
  if (change === undefined || !isCommittedTo(leaf, toCanonicalJson(change.record)))
    return `It is not as it was sealed, as leaf ${leaf.place}: see "carbon-mirror verify".`;
  return `Sealed in the checkpoint of ${covering.size} leaves, which was signed at ${getSignedAt(covering.note)}.`;
}
