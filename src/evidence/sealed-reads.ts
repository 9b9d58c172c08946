import { toCanonicalJson } from './leaf.js';
import { toHex, sha256 } from './hashes.js';
import type { EvidencePort, SealedReads } from './port.js';

/**
 * Returns what an organization's leaf says about reads that are sealed before a place: a line for each resource that was
 * read, in canonical JSON, sorted by resource. `reads_sha256` of the leaf is the SHA-256 of the text.
 *
 * - `list`: the resource.
 * - `read_at`: when its newest complete read started. The mirror has everything that the registry listed at that instant.
 *   Absent if no complete read is sealed.
 * - `read_leaf`: the place of the leaf of that read (kind sync, unchanged or open_span). Absent with `read_at`.
 * - `failed_since`: how many later reads were not complete (failed, partial, or removals not confirmed).
 *
 * "Newest" and "later" compare the instants at which reads started; equal instants are ordered by place.
 */
export async function readSealedReads(port: EvidencePort, organizationId: string, before: number) {
  const reads = await port.listSealedReads(organizationId, before);
  const text = reads.map(read => `${formatReadLine(read)}\n`).join('');
  return {
    text,
    reads,
    reads_sha256: toHex(sha256(Buffer.from(text))),
    failing_lists: reads.filter(({ failed }) => failed > 0).length,
  };
}

function formatReadLine({ resource, place, read_at, failed }: SealedReads): string {
  return toCanonicalJson({ list: resource, read_at, read_leaf: place, failed_since: failed });
}
