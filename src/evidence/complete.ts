import { createHash } from 'node:crypto';
import { canonicalJson, recordOf } from './commitment.js';
import { hexOf, sha256 } from './hashes.js';
import { type Cells, type EvidencePort, createObservation, type Leaf, type Observation } from './port.js';
import { readReads } from './reads.js';

/** By whom a row is dated, and in which month: by the mirror, which observed it, and by the registry where that says a date. */
export function groupsOf({ resource, observed, dated }: Leaf): string[] {
  const byRegistry = dated === null ? [] : [`${resource} registry ${dated}`];
  return [...byRegistry, `${resource} mirror ${observed}`];
}

/** Returns the monthly totals of an organization: a line for each list and month. */
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
  const lines = [...sums]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, sum]) => `${canonicalJson({ ...sum.end(), ...describeGroup(name) })}\n`);
  const text = lines.join('');
  return { text, totals: { months: sums.size, months_sha256: hexOf(sha256(Buffer.from(text))), rows } };
}

/** Returns the fields of a line about a month that say what it counts. */
function describeGroup(name: string) {
  const [list = '', dated_by = '', month = ''] = name.split(' ');
  return { list, dated_by, month };
}

/** What a leaf says about the rows of an organization. */
type MonthTotals = Readonly<Record<'months' | 'months_sha256' | 'rows', Cells[string]>>;

/**
 * Creates the leaf of an organization from its monthly totals and from its reads that are sealed before a place.
 * Without totals, they are counted.
 */
export async function observeOrganization(
  port: EvidencePort,
  organizationId: string,
  { upTo, before }: { readonly upTo: number; readonly before: number },
  totals?: MonthTotals,
): Promise<Observation> {
  const { months, months_sha256, rows } = totals ?? (await readMonths(port, organizationId, upTo)).totals;
  const { failing_lists, reads_sha256 } = await readReads(port, organizationId, before);
  const record = {
    organization_id: organizationId,
    months,
    months_sha256,
    rows,
    failing_lists,
    reads_sha256,
  };
  return createObservation('organization', record, { subject: organizationId });
}

/**
 * Yields new leaves of the organizations for which the newest one is out of date, because a row changed, a read failed,
 * or a list was read completely after a failure. A list that is read again and again without a failure causes no leaf, so
 * `read_at` of its line may be older than its newest sealed read. For `exported` organizations it is brought up to date.
 */
export async function* observeOrganizations(
  port: EvidencePort,
  since: { readonly upTo: number; readonly place: number },
  { upTo, before }: { readonly upTo: number; readonly before: number },
  exported: readonly string[],
): AsyncGenerator<Observation> {
  const touched = await port.touched(since.upTo, upTo);
  for (const each of touched) yield await observeOrganization(port, each, { upTo, before });
  const newest = await port.leaves({ newest: 'organization', before });
  const recordsOf = new Map(newest.map(leaf => [leaf.subject, recordOf(leaf)]));
  const wasFailing = (subject: string) => Number(recordsOf.get(subject)?.['failing_lists'] ?? 0) > 0;
  const readers = await port.readSubjects(since.place + 1, before);
  const outdated = readers.filter(({ subject, failed }) => failed > 0 || wasFailing(subject));
  const others = new Set([...outdated.map(({ subject }) => subject), ...exported]);
  for (const each of others) {
    if (touched.includes(each)) continue;
    const record = recordsOf.get(each);
    const fact = await observeOrganization(port, each, { upTo, before }, totalsIn(record));
    if (record?.['reads_sha256'] !== fact.record['reads_sha256']) yield fact;
  }
}

/** Returns the monthly totals in the record of an older leaf; undefined if there is none. */
function totalsIn(record: Cells | undefined): MonthTotals | undefined {
  if (record?.['months_sha256'] === undefined) return undefined;
  const { months = null, months_sha256, rows = null } = record;
  return { months, months_sha256, rows };
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
    end: () => ({
      rows,
      without_amount: withoutAmount,
      micro: String(sum),
      commitments: commitments.digest('hex'),
    }),
  };
}

/** Fields of the last leaf of a checkpoint that do not name other leaves. */
export interface CheckpointFields {
  /** The newest change that the checkpoint covers. */
  readonly up_to: number;
  /** The instant that is signed with the checkpoint. */
  readonly sealed_at: string;
  /** The number of leaves that the checkpoint before this one covers; 0 if there is none. */
  readonly previous_size: number;
}

/**
 * Lists the leaves that a folder must not omit: the newest one of each organization and of its coverage, and all about
 * erasures, restores and new keys. Each has a line in canonical JSON, in the order of the log.
 */
export async function readNamed(port: EvidencePort, before: number) {
  const organizations = await port.leaves({ newest: 'organization', before });
  const coverage = await port.leaves({ newest: 'coverage', before });
  const told = await port.leaves({ told: before });
  const lines = [...organizations, ...coverage, ...told]
    .toSorted((left, right) => left.place - right.place)
    .map(({ place, commitment, kind }) => {
      return `${canonicalJson({ named: place, commitment: hexOf(commitment), kind })}\n`;
    });
  return { organizations, coverage, told, text: lines.join('') };
}

/** Creates the last leaf of a checkpoint, which names the leaves of `readNamed`. */
export function observeComplete(
  { organizations, text }: Awaited<ReturnType<typeof readNamed>>,
  fields: CheckpointFields,
): Observation {
  return createObservation('complete', {
    ...fields,
    organizations: organizations.length,
    named_sha256: hexOf(sha256(Buffer.from(text))),
  });
}

/** Returns the newest last leaf of a checkpoint before a place, with its fields. Without one, its place is -1. */
export async function readComplete(port: EvidencePort, before: number) {
  const [leaf] = await port.leaves({ newest: 'complete', before });
  const record = recordOf(leaf);
  const fields: CheckpointFields = {
    up_to: Number(record['up_to'] ?? 0),
    sealed_at: String(record['sealed_at'] ?? ''),
    previous_size: Number(record['previous_size'] ?? 0),
  };
  return { leaf, place: leaf?.place ?? -1, fields };
}
