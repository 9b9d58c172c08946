import { createHash, type Hash } from 'node:crypto';
import { type EvidencePort, type Fact, factOf, type Leaf } from './port.js';
import { sha256 } from './hashes.js';

interface Sum {
  rows: number;
  withoutAmount: number;
  micro: bigint;
  readonly commitments: Hash;
}

/** By whom a row is dated, and in which month: by the mirror, which observed it, and by the registry where that says a date. */
export function groupsOf({ resource, observed, dated }: Leaf): string[] {
  const byRegistry = dated === null ? [] : [`${resource} registry ${dated}`];
  return [...byRegistry, `${resource} mirror ${observed}`];
}

/** A line for each list and month of an organization. */
export async function readMonths(port: EvidencePort, organizationId: string, upTo: number) {
  const sums = new Map<string, Sum>();
  let rows = 0;
  for await (const standing of port.standing(organizationId, upTo)) {
    rows += standing.length;
    for (const leaf of standing) for (const name of groupsOf(leaf)) add(sums, name, leaf);
  }
  const text = [...sums].map(lineOf).toSorted().join('');
  const months = { months: sums.size, months_sha256: hexOf(text), rows };
  const record = { organization_id: organizationId, ...months };
  return { text, fact: factOf('organization', record, { subject: organizationId }) };
}

function add(sums: Map<string, Sum>, name: string, { micro, commitment }: Leaf): void {
  const sum = sums.get(name) ?? { rows: 0, withoutAmount: 0, micro: 0n, commitments: createHash('sha256') };
  sums.set(name, sum);
  sum.rows += 1;
  if (micro === null) sum.withoutAmount += 1;
  else sum.micro += BigInt(micro);
  sum.commitments.update(`${Buffer.from(commitment).toString('hex')}\n`);
}

function lineOf([name, { rows, withoutAmount, micro, commitments }]: [string, Sum]): string {
  return `${name} ${rows} ${withoutAmount} ${micro} ${commitments.digest('hex')}\n`;
}

/** The newest that was said of each organization, as lines: where that stands in the log, and its commitment. */
export async function readOrganizations(port: EvidencePort, before: number, upTo: number) {
  const leaves = await port.leaves({ newest: 'organization', before });
  const text = leaves
    .map(({ place, commitment }) => `${place} ${Buffer.from(commitment).toString('hex')}\n`)
    .join('');
  const organizations = { organizations: leaves.length, organizations_sha256: hexOf(text) };
  return { leaves, text, fact: factOf('complete', { up_to: upTo, ...organizations }) };
}

/** What is to be said anew of organizations, since that was said last. */
export async function* changedOrganizations(
  port: EvidencePort,
  since: number,
  upTo: number,
): AsyncGenerator<Fact> {
  for (const each of await port.touched(since, upTo)) yield (await readMonths(port, each, upTo)).fact;
}

/** What says which those are, and up to which number of the counter it speaks: the newest before a place. */
export async function readComplete(port: EvidencePort, before: number) {
  const [leaf] = await port.leaves({ newest: 'complete', before });
  return { leaf: leaf ?? null, upTo: Number(/"up_to":(\d+)/.exec(leaf?.record ?? '')?.[1] ?? 0) };
}

function hexOf(text: string): string {
  return sha256(Buffer.from(text)).toString('hex');
}
