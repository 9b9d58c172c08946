import { createHash, type Hash } from 'node:crypto';
import type { Cells } from './commitment.js';
import type { EvidencePort, Fact, Leaf, Standing } from './port.js';
import { sha256 } from './hashes.js';

interface Sum {
  rows: number;
  withoutAmount: number;
  micro: bigint;
  readonly commitments: Hash;
}

/** By whom a row is dated, and in which month: by the mirror, which observed it, and by the registry where that says a date. */
export function groupsOf({ resource, observedAt, createdAt }: Standing): string[] {
  const dated = createdAt === null ? [] : [`${resource} registry ${createdAt.slice(0, 7)}`];
  return [...dated, `${resource} mirror ${observedAt.slice(0, 7)}`];
}

/** What an organization has up to a number of the counter: a line for each of its lists and months. */
export async function readMonths(port: EvidencePort, organizationId: string, upTo: number) {
  const sums = new Map<string, Sum>();
  let rows = 0;
  for await (const standing of port.standing(organizationId, upTo)) {
    const leaves = await port.leavesOf(
      'change',
      standing.map(({ number }) => number),
    );
    const sealed = new Map(leaves.map(leaf => [leaf.number, leaf]));
    for (const row of standing) {
      const leaf = sealed.get(row.number);
      if (leaf === undefined) continue;
      rows += 1;
      for (const name of groupsOf(row)) add(sumOf(sums, name), row, leaf);
    }
  }
  const text = [...sums].map(lineOf).toSorted().join('');
  const months = { months: sums.size, months_sha256: hexOf(text), rows };
  return { text, record: { kind: 'organization', organization_id: organizationId, ...months } };
}

function sumOf(sums: Map<string, Sum>, name: string): Sum {
  const known = sums.get(name) ?? { rows: 0, withoutAmount: 0, micro: 0n, commitments: createHash('sha256') };
  sums.set(name, known);
  return known;
}

function add(sum: Sum, { micro }: Standing, { commitment }: Leaf): void {
  sum.rows += 1;
  if (micro === null) sum.withoutAmount += 1;
  else sum.micro += micro;
  sum.commitments.update(`${Buffer.from(commitment).toString('hex')}\n`);
}

function lineOf([name, { rows, withoutAmount, micro, commitments }]: [string, Sum]): string {
  return `${name} ${rows} ${withoutAmount} ${micro} ${commitments.digest('hex')}\n`;
}

/** The newest that was said of each organization, as lines: where that stands in the log, and its commitment. */
export async function readOrganizations(port: EvidencePort, before: number, upTo: number) {
  const leaves = await port.organizations(before);
  const text = leaves
    .map(({ place, commitment }) => `${place} ${Buffer.from(commitment).toString('hex')}\n`)
    .join('');
  const organizations = { organizations: leaves.length, organizations_sha256: hexOf(text) };
  return { leaves, text, record: { kind: 'complete', up_to: upTo, ...organizations } };
}

/** What is to be said anew of organizations, since that was said last. */
export async function* changedOrganizations(
  port: EvidencePort,
  since: number,
  upTo: number,
): AsyncGenerator<Fact> {
  for (const subject of await port.touched(since, upTo)) {
    const { record } = await readMonths(port, subject, upTo);
    yield { kind: 'organization', number: null, subject, record };
  }
}

export function completeFact(record: Cells): Fact {
  return { kind: 'complete', number: null, subject: null, record };
}

/** Up to which number of the counter such a leaf speaks. */
export function upToOf(leaf: Leaf | null): number {
  return Number(/"up_to":(\d+)/.exec(leaf?.record ?? '')?.[1] ?? 0);
}

function hexOf(text: string): string {
  return sha256(Buffer.from(text)).toString('hex');
}
