import { createHash } from 'node:crypto';
import { recordOf } from './commitment.js';
import { hexOf, sha256 } from './hashes.js';
import { type EvidencePort, createObservation, type Leaf } from './port.js';

/** By whom a row is dated, and in which month: by the mirror, which observed it, and by the registry where that says a date. */
export function groupsOf({ resource, observed, dated }: Leaf): string[] {
  const byRegistry = dated === null ? [] : [`${resource} registry ${dated}`];
  return [...byRegistry, `${resource} mirror ${observed}`];
}

/** A line for each list and month of an organization. */
export async function readMonths(port: EvidencePort, organizationId: string, upTo: number) {
  const sums = new Map<string, ReturnType<typeof createSum>>();
  let rows = 0;
  for await (const standing of port.standing(organizationId, upTo)) {
    rows += standing.length;
    for (const leaf of standing)
      for (const name of groupsOf(leaf)) {
        const sum = sums.get(name) ?? createSum();
        sums.set(name, sum);
        sum.add(leaf);
      }
  }
  const lines = [...sums].map(([name, sum]) => `${name} ${sum.end()}\n`);
  const text = lines.toSorted().join('');
  const record = {
    organization_id: organizationId,
    months: sums.size,
    months_sha256: hexOf(sha256(Buffer.from(text))),
    rows,
  };
  return { text, fact: createObservation('organization', record, { subject: organizationId }) };
}

function createSum() {
  let [rows, withoutAmount, sum] = [0, 0, 0n];
  const commitments = createHash('sha256');
  return {
    add: ({ micro, commitment }: Leaf): void => {
      rows += 1;
      if (micro === null) withoutAmount += 1;
      else sum += BigInt(micro);
      commitments.update(`${hexOf(commitment)}\n`);
    },
    end: (): string => `${rows} ${withoutAmount} ${sum} ${commitments.digest('hex')}`,
  };
}

/** What must be shown: the newest that was said of each organization, and all that was erased, put back or signed anew. A line each: place, commitment, kind. */
export async function readNamed(port: EvidencePort, before: number, upTo: number) {
  const organizations = await port.leaves({ newest: 'organization', before });
  const coverage = await port.leaves({ newest: 'coverage', before });
  const told = await port.leaves({ told: before });
  const lines = [...organizations, ...coverage, ...told].map(
    ({ place, commitment, kind }) => `${place} ${hexOf(commitment)} ${kind}\n`,
  );
  const text = lines.join('');
  const record = {
    up_to: upTo,
    organizations: organizations.length,
    named_sha256: hexOf(sha256(Buffer.from(text))),
  };
  return { organizations, coverage, told, text, fact: createObservation('complete', record) };
}

/** What says which those are, and up to which number of the counter it speaks: the newest before a place. */
export async function readComplete(port: EvidencePort, before: number) {
  const [leaf] = await port.leaves({ newest: 'complete', before });
  return { leaf, upTo: Number(recordOf(leaf)['up_to'] ?? 0) };
}
