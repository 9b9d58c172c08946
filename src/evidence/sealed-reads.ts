import { toCanonicalJson } from './leaf.js';
import { toHex, sha256 } from './hashes.js';
import type { EvidencePort, SealedReadSummary } from './port.js';

/**
 * Summarizes when the lists of an organization were read from the registry, according to the leaves with a lower index than `beforeIndex`.
 * The organization's leaf at that index records this summary. `text` has a line of canonical JSON for each list that was read, sorted by
 * list. Fields of a line:
 *
 * - `list`: the name of the list, such as `retirements`.
 * - `read_at`: when the newest complete read of the list started. The mirror has everything that the registry listed at that instant.
 *   Absent if no complete read is sealed.
 * - `read_leaf`: the index of the leaf of that read (kind sync, unchanged or open_span). Absent if `read_at` is absent.
 * - `failed_since`: how many later reads were not complete (failed, partial, or removals not confirmed).
 *
 * Reads are ordered by the instants at which they started; equal instants, by leaf index.
 */
export async function readSealedReads(port: EvidencePort, organizationId: string, beforeIndex: number) {
  const reads = await port.listSealedReads(organizationId, beforeIndex);
  const text = reads.map(read => `${formatReadLine(read)}\n`).join('');
  return {
    text,
    reads,
    reads_sha256: toHex(sha256(Buffer.from(text))),
    failing_lists: reads.filter(({ failed }) => failed > 0).length,
  };
}

/** Formats a line of `readSealedReads`, without its newline. */
function formatReadLine({ resource, place, read_at, failed }: SealedReadSummary): string {
  return toCanonicalJson({ list: resource, read_at, read_leaf: place, failed_since: failed });
}
