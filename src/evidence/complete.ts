import { createHash, type Hash } from 'node:crypto';
import type { EvidencePort, Fact, Leaf, Standing } from './port.js';
import { sha256 } from './hashes.js';

interface Sum {
  rows: number;
  withoutAmount: number;
  micro: bigint;
  readonly commitments: Hash;
}

/** A row that stood, and what was sealed of it. */
export interface Stood extends Standing {
  readonly leaf: Leaf;
}

/** By whom a row is dated, and in which month: by the mirror, which observed it, and by the registry where that says a date. */
export function groupsOf({ resource, observedAt, createdAt }: Standing): string[] {
  const dated = createdAt === null ? [] : [`${resource} registry ${createdAt.slice(0, 7)}`];
  return [...dated, `${resource} mirror ${observedAt.slice(0, 7)}`];
}

/** What an organization has up to a number of the counter, some rows of a list at a time. What was never sealed stands nowhere. */
export async function* readStood(
  port: EvidencePort,
  organizationId: string,
  upTo: number,
): AsyncGenerator<Stood[]> {
  for await (const standing of port.standing(organizationId, upTo)) {
    const leaves = await port.leaves({ kind: 'change', numbers: standing.map(({ number }) => number) });
    const sealed = new Map(leaves.map(leaf => [leaf.number, leaf]));
    yield standing.flatMap(row => {
      const leaf = sealed.get(row.number);
      return leaf === undefined ? [] : [{ ...row, leaf }];
    });
  }
}

/** A line for each list and month of an organization. */
export async function readMonths(port: EvidencePort, organizationId: string, upTo: number) {
  const sums = new Map<string, Sum>();
  let rows = 0;
  for await (const stood of readStood(port, organizationId, upTo)) {
    rows += stood.length;
    for (const row of stood) for (const name of groupsOf(row)) add(sums, name, row);
  }
  const text = [...sums].map(lineOf).toSorted().join('');
  const months = { months: sums.size, months_sha256: hexOf(text), rows };
  return { text, record: { kind: 'organization', organization_id: organizationId, ...months } };
}

function add(sums: Map<string, Sum>, name: string, { micro, leaf }: Stood): void {
  const sum = sums.get(name) ?? { rows: 0, withoutAmount: 0, micro: 0n, commitments: createHash('sha256') };
  sums.set(name, sum);
  sum.rows += 1;
  if (micro === null) sum.withoutAmount += 1;
  else sum.micro += micro;
  sum.commitments.update(`${Buffer.from(leaf.commitment).toString('hex')}\n`);
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

/** What says which those are, and up to which number of the counter it speaks: the newest before a place. */
export async function readComplete(port: EvidencePort, before: number) {
  const [leaf] = await port.leaves({ newest: 'complete', before });
  return { leaf: leaf ?? null, upTo: Number(/"up_to":(\d+)/.exec(leaf?.record ?? '')?.[1] ?? 0) };
}

function hexOf(text: string): string {
  return sha256(Buffer.from(text)).toString('hex');
}
