import { createHash } from 'node:crypto';
import { toCanonicalJson, parseLeafRecord } from './leaf.js';
import { refuse } from './evidence-error.js';
import { toHex, sha256 } from './hashes.js';
import {
  type Cells,
  createCurrentFilter,
  type EvidencePort,
  createObservation,
  type Leaf,
  type Observation,
} from './port.js';
import { readSealedReads } from './sealed-reads.js';

/** By whom a row is dated, and in which month: by the mirror, which observed it, and by the registry where that says a date. */
export function listMonthGroups({ resource, observed, dated }: Leaf): string[] {
  const byRegistry = dated === null ? [] : [`${resource} registry ${dated}`];
  return [...byRegistry, `${resource} mirror ${observed}`];
}

/**
 * Checks what the sealer counts. Somebody may have changed columns of leaves, or hidden a leaf for as long as the sealer
 * reads. The exporter needs no guard, because auditors check the hashes.
 */
export interface LeafGuard {
  /** Throws if this program did not write one of the leaves as it is. */
  readonly assertAuthentic: (leaves: readonly Leaf[]) => void;
  /** The number of erased changes that were counted, in leaves after a place. */
  readonly countErased: (place: number) => number;
}

/** Returns the monthly totals of an organization: a line for each list and month. */
export async function readMonths(
  port: EvidencePort,
  organizationId: string,
  upTo: number,
  guard?: LeafGuard,
) {
  const sums = new Map<string, ReturnType<typeof createMonthSum>>();
  const places: number[] = [];
  let rows = 0;
  const isCurrent = createCurrentFilter();
  for await (const changes of port.iterateChangeLeaves(organizationId, upTo)) {
    guard?.assertAuthentic(changes);
    for (const leaf of changes) places.push(leaf.place);
    const current = changes.filter(isCurrent);
    rows += current.length;
    for (const leaf of current)
      for (const name of listMonthGroups(leaf)) {
        const sum = sums.get(name) ?? createMonthSum();
        sums.set(name, sum);
        sum.add(leaf);
      }
  }
  const lines = [...sums]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, sum]) => `${toCanonicalJson({ ...sum.end(), ...describeGroup(name) })}\n`);
  const text = lines.join('');
  const months_sha256 = toHex(sha256(Buffer.from(text)));
  return { text, places, totals: { changes: places.length, months: sums.size, months_sha256, rows } };
}

/** Returns the fields of a line about a month that say what it counts. */
function describeGroup(name: string) {
  const [list = '', dated_by = '', month = ''] = name.split(' ');
  return { list, dated_by, month };
}

/** The totals in the leaf of an organization. `changes` counts its change leaves, without those about people. */
type MonthTotals = Readonly<Record<'changes' | 'months' | 'months_sha256' | 'rows', Cells[string]>>;

interface Moment {
  /** The newest change that is counted. */
  readonly upTo: number;
  /** The place before which reads are counted. */
  readonly before: number;
}

/** Creates the leaf of an organization from its monthly totals, and from its reads that are sealed before a place. */
export async function createOrganizationObservation(
  port: EvidencePort,
  organizationId: string,
  before: number,
  { changes, months, months_sha256, rows }: MonthTotals,
): Promise<Observation> {
  const { failing_lists, reads_sha256 } = await readSealedReads(port, organizationId, before);
  const record = {
    organization_id: organizationId,
    changes,
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
export async function* streamOrganizationObservations(
  port: EvidencePort,
  since: { readonly upTo: number; readonly place: number },
  { upTo, before }: Moment,
  exported: readonly string[],
  guard: LeafGuard,
): AsyncGenerator<Observation> {
  const newest = new Map(
    (await port.listLeaves({ newest: 'organization', before })).map(leaf => [leaf.subject, leaf]),
  );
  const wasFailing = (subject: string) =>
    Number(parseLeafRecord(newest.get(subject))['failing_lists'] ?? 0) > 0;
  const changed = await port.listChangedOrganizations(since.upTo, upTo);
  const readers = await port.listReadSubjects(since.place + 1, before);
  const outdated = readers.filter(({ subject, failed }) => failed > 0 || wasFailing(subject));
  /** Nothing says whose changes were erased, so all organizations are counted again. This is rare: `forget` erases people. */
  const recounted = guard.countErased(since.place) > 0 ? [...newest.keys()].map(String) : [];
  const counted = new Set([...changed, ...recounted]);
  for (const each of new Set([...counted, ...outdated.map(({ subject }) => subject), ...exported])) {
    const leaf = newest.get(each);
    const record = parseLeafRecord(leaf);
    if (leaf !== undefined) await assertSameReads(port, each, leaf);
    const totals = counted.has(each) ? null : readMonthTotals(record);
    const observation = await createOrganizationObservation(
      port,
      each,
      before,
      totals ?? (await countMonths(port, each, upTo, leaf, guard)),
    );
    guard.assertAuthentic(await readNewestReads(port, each, before));
    if (toCanonicalJson(observation.record) !== leaf?.record) yield observation;
  }
}

/** Counts the monthly totals anew. Throws if a change is missing that the newest leaf of the organization counted. */
async function countMonths(
  port: EvidencePort,
  organizationId: string,
  upTo: number,
  newest: Leaf | undefined,
  guard: LeafGuard,
): Promise<MonthTotals> {
  const { places, totals } = await readMonths(port, organizationId, upTo, guard);
  if (newest === undefined) return totals;
  const counted = Number(parseLeafRecord(newest)['changes'] ?? 0);
  const left = places.filter(place => place < newest.place).length;
  const missing = counted - left;
  if (missing < 0 || missing > guard.countErased(newest.place))
    refuse(
      `not signed: leaf ${newest.place} counted ${counted} changes of organization ${organizationId}, and ${left} are there, see "carbon-mirror verify"`,
    );
  return totals;
}

/** Throws if the reads before the leaf of an organization are not those that it says. */
async function assertSameReads(port: EvidencePort, organizationId: string, leaf: Leaf): Promise<void> {
  const { reads_sha256 } = await readSealedReads(port, organizationId, leaf.place);
  if (parseLeafRecord(leaf)['reads_sha256'] !== reads_sha256)
    refuse(
      `not signed: the reads of organization ${organizationId} are not those of leaf ${leaf.place}, see "carbon-mirror verify"`,
    );
}

/** Returns the leaves of the newest complete reads of an organization before a place. */
async function readNewestReads(port: EvidencePort, organizationId: string, before: number) {
  const { reads } = await readSealedReads(port, organizationId, before);
  const places = reads.flatMap(({ place }) => (place === null ? [] : [place]));
  return await port.listLeaves({ places });
}

/** Returns the monthly totals in the record of an older leaf; null if there is none. */
function readMonthTotals(record: Cells): MonthTotals | null {
  const { changes = null, months = null, months_sha256, rows = null } = record;
  return months_sha256 === undefined ? null : { changes, months, months_sha256, rows };
}

function createMonthSum() {
  let [rows, withoutAmount, sum] = [0, 0, 0n];
  const commitments = createHash('sha256');
  return {
    add: ({ micro, commitment }: Leaf): void => {
      rows += 1;
      if (micro === null) withoutAmount += 1;
      else sum += BigInt(micro);
      commitments.update(`${toHex(commitment)}\n`);
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
  /** The newest sync and span of unchanged reads that are sealed. */
  readonly sync_up_to: number;
  readonly span_up_to: number;
}

/**
 * Lists the leaves that a folder must not omit: the newest one of each organization and of its coverage, and all about
 * erasures, restores and new keys. Each has a line in canonical JSON, in the order of the log.
 */
export async function readNamedLeaves(port: EvidencePort, before: number) {
  const organizations = await port.listLeaves({ newest: 'organization', before });
  const coverage = await port.listLeaves({ newest: 'coverage', before });
  const aboutLog = await port.listLeaves({ aboutLogBefore: before });
  const lines = [...organizations, ...coverage, ...aboutLog]
    .toSorted((left, right) => left.place - right.place)
    .map(({ place, commitment, kind }) => {
      return `${toCanonicalJson({ named: place, commitment: toHex(commitment), kind })}\n`;
    });
  return { organizations, coverage, aboutLog, text: lines.join('') };
}

/** Adds up the places of leaves. The sum falls if somebody hides the newest leaf of an organization. */
export function sumPlaces(leaves: readonly Pick<Leaf, 'place'>[]): number {
  return leaves.reduce((sum, { place }) => sum + place, 0);
}

/** Creates the last leaf of a checkpoint, which names the leaves of `readNamedLeaves`. */
export function createCompleteObservation(
  { organizations, coverage, aboutLog, text }: Awaited<ReturnType<typeof readNamedLeaves>>,
  fields: CheckpointFields,
): Observation {
  return createObservation('complete', {
    ...fields,
    organizations: organizations.length,
    listed_places: sumPlaces([...organizations, ...coverage, ...aboutLog]),
    named_sha256: toHex(sha256(Buffer.from(text))),
  });
}

/** Returns the newest last leaf of a checkpoint before a place, with its fields. Without one, its place is -1. */
export async function readCompleteLeaf(port: EvidencePort, before: number) {
  const [leaf] = await port.listLeaves({ newest: 'complete', before });
  const record = parseLeafRecord(leaf);
  const fields: CheckpointFields = {
    up_to: Number(record['up_to'] ?? 0),
    sealed_at: String(record['sealed_at'] ?? ''),
    previous_size: Number(record['previous_size'] ?? 0),
    sync_up_to: Number(record['sync_up_to'] ?? 0),
    span_up_to: Number(record['span_up_to'] ?? 0),
  };
  return { leaf, place: leaf?.place ?? -1, fields, listedPlaces: Number(record['listed_places'] ?? 0) };
}
