import { getSignedAt } from './checkpoint.js';
import { toCanonicalJson, isCommittedTo } from './leaf.js';
import { ALL, type EvidencePort } from './port.js';

/** How a change was sealed, in a sentence. */
export async function describeSeal(port: EvidencePort, number: number): Promise<string> {
  const [leaf] = await port.leaves({ kind: 'change', numbers: [number] });
  const [covering] = leaf === undefined ? [] : await port.checkpoints(leaf.place, ALL, 1);
  if (leaf === undefined || covering === undefined) return 'Not sealed yet.';
  const [fact] = await port.versions(leaf.resource ?? '', [number]);
  if (fact === undefined || !isCommittedTo(leaf, toCanonicalJson(fact.record)))
    return `It is not as it was sealed, as leaf ${leaf.place}: see "carbon-mirror verify".`;
  return `Sealed in the checkpoint of ${covering.size} leaves, which was signed at ${getSignedAt(covering.note)}.`;
}
