import { createHash } from 'node:crypto';
import { toCanonicalJson, parseLeafRecord } from './leaf.js';
import { throwEvidenceError } from './evidence-error.js';
import { toHex, sha256 } from './hashes.js';
import {
  type LeafRecord,
  createCurrentFilter,
  type EvidencePort,
  createLeafInput,
  type Leaf,
  type LeafInput,
} from './port.js';
import { readSealedReads } from './sealed-reads.js';

/**
 * Returns the months in which a row version counts, as keys such as "retirements mirror 2025-05": the month in which the mirror
 * observed it, and the month of the registry's date, if there is one ("retirements registry 2025-04").
 */
export function listMonthKeys({ resource, observed, dated }: Leaf): string[] {
  const byRegistry = dated === null ? [] : [`${resource} registry ${dated}`];
  return [...byRegistry, `${resource} mirror ${observed}`];
}

/**
 * Checks leaves before the sealer counts them, because someone may have changed their columns, or hidden a leaf while the sealer
 * reads. An export needs no guard, because its checker verifies the hashes.
 */
export interface LeafGuard {
  /** Throws an EvidenceError unless this program wrote all these leaves and nobody changed them. */
  readonly assertAuthentic: (leaves: readonly Leaf[]) => void;
  /** Returns how many counted changes were erased by the erasures after a leaf index. */
  readonly countErasedChanges: (leafIndex: number) => number;
}

/**
 * Computes the monthly totals of an organization, up to the change number `upTo`. Returns them as text (one line of canonical
 * JSON for each list and month), with the fields for the organization's leaf and the indexes of the counted leaves. With a
 * `guard`, throws an EvidenceError if a leaf was changed.
 */
export async function computeMonthlyTotals(
  port: EvidencePort,
  organizationId: string,
  upTo: number,
  guard?: LeafGuard,
) {
  const sums = new Map<string, ReturnType<typeof createMonthCounter>>();
  const leafIndexes: number[] = [];
  let rows = 0;
  const isCurrent = createCurrentFilter();
  for await (const changes of port.iterateChangeLeaves(organizationId, upTo)) {
    guard?.assertAuthentic(changes);
    for (const leaf of changes) leafIndexes.push(leaf.place);
    const current = changes.filter(isCurrent);
    rows += current.length;
    for (const leaf of current)
      for (const name of listMonthKeys(leaf)) {
        const sum = sums.get(name) ?? createMonthCounter();
        sums.set(name, sum);
        sum.add(leaf);
      }
  }
  const lines = [...sums]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, sum]) => `${toCanonicalJson({ ...sum.end(), ...parseMonthKey(name) })}\n`);
  const text = lines.join('');
  const months_sha256 = toHex(sha256(Buffer.from(text)));
  return {
    text,
    leafIndexes,
    totals: { changes: leafIndexes.length, months: sums.size, months_sha256, rows },
  };
}

/**
 * Splits a key that `listMonthKeys` returned, such as "retirements mirror 2025-05". Returns its parts under the names that they have as
 * fields in the JSON of monthly counts.
 */
function parseMonthKey(key: string) {
  const [list = '', dated_by = '', month = ''] = key.split(' ');
  return { list, dated_by, month };
}

/**
 * The fields of an organization's leaf that count its rows. `changes` is the number of its change leaves, not counting people.
 */
type MonthTotals = Readonly<Record<'changes' | 'months' | 'months_sha256' | 'rows', LeafRecord[string]>>;

/** The newest change and the last leaf that the new leaf of an organization takes into account. */
interface CountingLimits {
  /** The number of the newest change that is counted. */
  readonly upTo: number;
  /** Only leaves with a lower index than this are searched for reads of the registry. */
  readonly beforeIndex: number;
}

/**
 * Creates the input of an organization's leaf, from its monthly totals and a summary of when its lists were read from the
 * registry. The summary covers the leaves with a lower index than `beforeIndex`.
 */
export async function createOrganizationLeafInput(
  port: EvidencePort,
  organizationId: string,
  beforeIndex: number,
  { changes, months, months_sha256, rows }: MonthTotals,
): Promise<LeafInput> {
  const { failing_lists, reads_sha256 } = await readSealedReads(port, organizationId, beforeIndex);
  const record = {
    organization_id: organizationId,
    changes,
    months,
    months_sha256,
    rows,
    failing_lists,
    reads_sha256,
  };
  return createLeafInput('organization', record, { subject: organizationId });
}

/**
 * Yields the input of a new leaf for each organization whose newest leaf is out of date: a row changed, a read failed, or a list was read
 * completely after a failure. `lastSealed` says how far the previous checkpoint leaf reached: `upTo` is the number of its newest change,
 * `place` its own index in the log.
 *
 * A complete read that follows a complete read and finds no change causes no new leaf. So `read_at` in an organization's leaf may be older
 * than the newest sealed read of the list. The organizations in `exported` (ids) are an exception: such a read causes a new leaf for them.
 */
export async function* streamOrganizationLeafInputs(
  port: EvidencePort,
  lastSealed: { readonly upTo: number; readonly place: number },
  { upTo, beforeIndex }: CountingLimits,
  exported: readonly string[],
  guard: LeafGuard,
): AsyncGenerator<LeafInput> {
  const newest = new Map(
    (await port.listLeaves({ newest: 'organization', beforeIndex })).map(leaf => [leaf.subject, leaf]),
  );
  const wasFailing = (subject: string) =>
    Number(parseLeafRecord(newest.get(subject))['failing_lists'] ?? 0) > 0;
  const changed = await port.listChangedOrganizations(lastSealed.upTo, upTo);
  const readers = await port.listOrganizationsWithReads(lastSealed.place + 1, beforeIndex);
  const outdated = readers.filter(({ subject, failed }) => failed > 0 || wasFailing(subject));
  /** Nothing says whose changes were erased, so all organizations are counted again. This is rare: `forget` erases people. */
  const recounted = guard.countErasedChanges(lastSealed.place) > 0 ? [...newest.keys()].map(String) : [];
  const counted = new Set([...changed, ...recounted]);
  for (const each of new Set([...counted, ...outdated.map(({ subject }) => subject), ...exported])) {
    const leaf = newest.get(each);
    const record = parseLeafRecord(leaf);
    if (leaf !== undefined) await assertReadsHash(port, each, leaf);
    const totals = counted.has(each) ? null : readMonthTotals(record);
    const observation = await createOrganizationLeafInput(
      port,
      each,
      beforeIndex,
      totals ?? (await recountMonthTotals(port, each, upTo, leaf, guard)),
    );
    guard.assertAuthentic(await readNewestReads(port, each, beforeIndex));
    if (toCanonicalJson(observation.record) !== leaf?.record) yield observation;
  }
}

/**
 * Computes the monthly totals of an organization from its change leaves. `newest` is the newest leaf of the organization. Throws an
 * EvidenceError if the number of changes in `newest` is not the number of change leaves before it, apart from changes that were erased.
 */
async function recountMonthTotals(
  port: EvidencePort,
  organizationId: string,
  upTo: number,
  newest: Leaf | undefined,
  guard: LeafGuard,
): Promise<MonthTotals> {
  const { leafIndexes, totals } = await computeMonthlyTotals(port, organizationId, upTo, guard);
  if (newest === undefined) return totals;
  const counted = Number(parseLeafRecord(newest)['changes'] ?? 0);
  const left = leafIndexes.filter(leafIndex => leafIndex < newest.place).length;
  const missing = counted - left;
  if (missing < 0 || missing > guard.countErasedChanges(newest.place))
    throwEvidenceError(
      `not signed: leaf ${newest.place} counted ${counted} changes of organization ${organizationId}, and ${left} are there, see "carbon-mirror verify"`,
    );
  return totals;
}

/**
 * Throws an EvidenceError unless `reads_sha256` in an organization's leaf is the hash of the summary of reads that `readSealedReads`
 * computes from earlier leaves.
 */
async function assertReadsHash(port: EvidencePort, organizationId: string, leaf: Leaf): Promise<void> {
  const { reads_sha256 } = await readSealedReads(port, organizationId, leaf.place);
  if (parseLeafRecord(leaf)['reads_sha256'] !== reads_sha256)
    throwEvidenceError(
      `not signed: the reads of organization ${organizationId} are not those of leaf ${leaf.place}, see "carbon-mirror verify"`,
    );
}

/** Returns the leaves of the newest complete read of each list of an organization. Ignores leaves from `beforeIndex` on. */
async function readNewestReads(port: EvidencePort, organizationId: string, beforeIndex: number) {
  const { reads } = await readSealedReads(port, organizationId, beforeIndex);
  const leafIndexes = reads.flatMap(({ place }) => (place === null ? [] : [place]));
  return await port.listLeaves({ leafIndexes: leafIndexes });
}

/** Reads the monthly totals from the record of an organization's leaf; null if the record has none. */
function readMonthTotals(record: LeafRecord): MonthTotals | null {
  const { changes = null, months = null, months_sha256, rows = null } = record;
  return months_sha256 === undefined ? null : { changes, months, months_sha256, rows };
}

/** Creates a counter for the rows of one list and month. Leaves must be added newest version first. */
function createMonthCounter() {
  let [rows, withoutAmount, sum] = [0, 0, 0n];
  const commitments = createHash('sha256');
  return {
    add: ({ micro, commitment }: Leaf): void => {
      rows += 1;
      if (micro === null) withoutAmount += 1;
      else sum += BigInt(micro);
      commitments.update(`${toHex(commitment)}\n`);
    },
    /** Returns the fields of the line with the counts of the month. Can be called once. */
    end: () => ({
      rows,
      without_amount: withoutAmount,
      micro: String(sum),
      commitments: commitments.digest('hex'),
    }),
  };
}

/** The fields of a checkpoint leaf (the last leaf that a checkpoint covers) that do not depend on the leaves it names. */
export interface CheckpointLeafFields {
  /** The number of the newest change that the checkpoint covers. */
  readonly up_to: number;
  /** The instant that is signed with the checkpoint. */
  readonly sealed_at: string;
  /** The tree size of the previous checkpoint; 0 if there is none. */
  readonly previous_size: number;
  /** The id of the newest sealed sync. */
  readonly sync_up_to: number;
  /** The number of the newest sealed span (scheduled reads of one list in a row that found nothing new). */
  readonly span_up_to: number;
}

/**
 * Reads the leaves that a checkpoint leaf at index `beforeIndex` names, so that evidence cannot omit them unnoticed. For each organization,
 * these are its newest leaf of kind `organization` and its newest leaf of kind `coverage` (its id, name and state). All log events
 * (erasures, restores and new keys) are named too. `text` has a line of canonical JSON for each of these leaves, in the order of the log.
 */
export async function readNamedLeaves(port: EvidencePort, beforeIndex: number) {
  const organizations = await port.listLeaves({ newest: 'organization', beforeIndex });
  const coverage = await port.listLeaves({ newest: 'coverage', beforeIndex });
  const logEvents = await port.listLeaves({ logEventsBefore: beforeIndex });
  const lines = [...organizations, ...coverage, ...logEvents]
    .toSorted((left, right) => left.place - right.place)
    .map(({ place, commitment, kind }) => {
      return `${toCanonicalJson({ named: place, commitment: toHex(commitment), kind })}\n`;
    });
  return { organizations, coverage, logEvents, text: lines.join('') };
}

/** Adds up leaf indexes. If somebody hides an organization's newest leaf, an older one is taken for it, and the sum is lower. */
export function sumLeafIndexes(leaves: readonly Pick<Leaf, 'place'>[]): number {
  return leaves.reduce((sum, { place }) => sum + place, 0);
}

/**
 * Creates the input of a checkpoint leaf, which is the last leaf that a checkpoint covers. The checkpoint leaf contains the hash of the
 * list of leaves that `readNamedLeaves` returned.
 */
export function createCheckpointLeafInput(
  { organizations, coverage, logEvents, text }: Awaited<ReturnType<typeof readNamedLeaves>>,
  fields: CheckpointLeafFields,
): LeafInput {
  return createLeafInput('complete', {
    ...fields,
    organizations: organizations.length,
    listed_places: sumLeafIndexes([...organizations, ...coverage, ...logEvents]),
    named_sha256: toHex(sha256(Buffer.from(text))),
  });
}

/**
 * Reads the newest checkpoint leaf whose index is lower than `beforeIndex`. Returns the leaf, its index in the log (`place`), its fields,
 * and the sum of the indexes of the leaves that it names. If there is none, `leaf` is undefined, `place` is -1, and the fields and the sum
 * are 0 or empty.
 */
export async function readCheckpointLeaf(port: EvidencePort, beforeIndex: number) {
  const [leaf] = await port.listLeaves({ newest: 'complete', beforeIndex });
  const record = parseLeafRecord(leaf);
  const fields: CheckpointLeafFields = {
    up_to: Number(record['up_to'] ?? 0),
    sealed_at: String(record['sealed_at'] ?? ''),
    previous_size: Number(record['previous_size'] ?? 0),
    sync_up_to: Number(record['sync_up_to'] ?? 0),
    span_up_to: Number(record['span_up_to'] ?? 0),
  };
  return { leaf, place: leaf?.place ?? -1, fields, listedPlaces: Number(record['listed_places'] ?? 0) };
}
