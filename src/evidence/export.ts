import { type Head, headOf } from './checkpoint.js';
import { canonicalJson, commit } from './commitment.js';
import { groupsOf, readMonths, readOrganizations, upToOf } from './complete.js';
import { EvidenceError } from './errors.js';
import type { Checkpoint, EvidencePort, Fact, Sealed, Standing, Version } from './port.js';
import { proveLeaves } from './proof.js';

/** What is to be shown: all that is dated or was observed in a month or year, all of an organization, or one retirement. */
export type What =
  | { readonly what: 'period'; readonly which: string }
  | { readonly what: 'organization'; readonly which: string }
  | {
      readonly what: 'retirement';
      readonly which: string;
      readonly organizationId: string;
      /** Of all its versions and of its end, and those of its certificate. */
      readonly numbers: readonly number[];
    };

export interface Exporting {
  readonly port: EvidencePort;
  readonly asked: What;
  /** In milliseconds; null for the newest checkpoint. */
  readonly asOf: number | null;
  /** A checkpoint that somebody holds. */
  readonly since: Head | null;
  /** Adds to a file of the folder. */
  readonly write: (file: string, text: string) => Promise<void>;
  readonly rowShown: (version: Version) => Promise<void>;
  /** Writes a file of the folder, unless it is there. */
  readonly document: (file: string, text: string) => Promise<void>;
  /** Writes the bytes of a certificate to a file of the folder. */
  readonly certificate: (file: string, stored: string, hash: string) => Promise<void>;
}

const AT_ONCE = 1000;

/** Writes what proves it, as docs/check.sh reads it. Answers the checkpoint, and the numbers of the syncs that showed it. */
export async function exportEvidence(exporting: Exporting) {
  const { port, asked, write, since } = exporting;
  const checkpoint = await checkpointAt(port, exporting.asOf);
  if (checkpoint === null) refuse('nothing was sealed by then');
  const { size } = checkpoint;
  const complete = await port.newestComplete(size);
  if (complete === null || complete.place !== size - 1) refuse('the checkpoint does not say what is whole');
  const upTo = upToOf(complete);
  const organizations = await readOrganizations(port, complete.place, upTo);
  demandSealed(complete, organizations.record, 'a purge has removed what it said of organizations');
  await write('WHAT.txt', `${asked.what} ${asked.which}\n`);
  await write('checkpoint.txt', checkpoint.note);
  await write('organizations.txt', organizations.text);
  const places = new Set<number>();
  let rows = 0;
  const syncs = new Set<number>();
  const show = async (file: 'rows.txt' | 'context.txt', leaf: Sealed, record: Fact['record']) => {
    demandSealed(leaf, record, `${leaf.kind} ${leaf.number} is not as it was sealed: see "verify"`);
    if (places.has(leaf.place)) return;
    places.add(leaf.place);
    if (file === 'rows.txt') rows += 1;
    if (record['sync_id'] != null) syncs.add(Number(record['sync_id']));
    const salt = Buffer.from(leaf.salt ?? Buffer.of()).toString('hex');
    await write(file, `${leaf.place} ${salt} ${canonicalJson(record)}\n`);
  };
  const showVersions = async (file: 'rows.txt' | 'context.txt', resource: string, numbers: number[]) => {
    const leaves = await port.leavesOf('change', numbers);
    const versions = new Map((await port.versions(resource, numbers)).map(each => [each.number, each]));
    for (const leaf of leaves) {
      const version = versions.get(leaf.number);
      if (version === undefined) refuse(`change ${leaf.number} is not there: see "verify"`);
      await show(file, leaf, version.record);
      await showBytes(exporting, version);
      if (file === 'rows.txt') await exporting.rowShown(version);
    }
    return [...versions.values()];
  };
  for (const leaf of organizations.leaves) {
    const { subject } = leaf;
    if (subject === null || !isAsked(asked, subject)) continue;
    const { text, record } = await readMonths(port, subject, upTo);
    await show('context.txt', leaf, record);
    await write(`months/${leaf.place}.txt`, text);
    await showRows(subject, leaf.place);
  }
  for (const file of ['rows.txt', 'others.txt', 'nodes.txt'] as const) await write(file, '');
  await show('context.txt', complete, organizations.record);
  for (const number of syncs) {
    const [leaf] = await port.leavesOf('sync', [number]);
    const [fact] = await port.syncs(number - 1, 1);
    if (leaf?.salt != null && leaf.place < size && fact?.number === number)
      await show('context.txt', leaf, fact.record);
  }
  await prove();
  return { checkpoint, rows, syncs: [...syncs] };

  /** Rows as they stand, and with a retirement its certificate; of one retirement what it was before, too. */
  async function showRows(organizationId: string, organizationPlace: number): Promise<void> {
    const retirements = new Set<unknown>();
    const numbers = asked.what === 'retirement' ? new Set(asked.numbers.filter(each => each <= upTo)) : null;
    const shared = new Set<string>();
    for await (const standing of port.standing(organizationId, upTo)) {
      const resource = standing[0]?.resource ?? '';
      for (let from = 0; from < standing.length; from += AT_ONCE) {
        const some = standing.slice(from, from + AT_ONCE);
        const shown = some
          .filter(row => numbers?.has(row.number) ?? isIn(asked, row))
          .map(({ number }) => number);
        if (numbers !== null) for (const row of some) if (numbers.has(row.number)) shared.add(mirrored(row));
        const versions = await showVersions('rows.txt', resource, shown);
        if (resource === 'retirements') for (const { record } of versions) retirements.add(record['id']);
        if (resource !== 'certificates' || asked.what !== 'period') continue;
        const rest = some.map(({ number }) => number).filter(number => !shown.includes(number));
        const beside = (await port.versions(resource, rest)).filter(({ record }) =>
          retirements.has(record['retirement_id']),
        );
        await showVersions(
          'context.txt',
          resource,
          beside.map(({ number }) => Number(number)),
        );
      }
    }
    if (numbers === null) return;
    for await (const standing of port.standing(organizationId, upTo)) {
      const others = standing.filter(row => shared.has(mirrored(row)) && !numbers.has(row.number));
      const leaves = await port.leavesOf(
        'change',
        others.map(({ number }) => number),
      );
      const sealed = new Map(leaves.map(leaf => [leaf.number, leaf]));
      for (const row of others) {
        const commitment = Buffer.from(sealed.get(row.number)?.commitment ?? '').toString('hex');
        await write('others.txt', `${organizationPlace} ${mirrored(row)} ${row.number} ${commitment}\n`);
      }
    }
    for (const number of numbers) {
      const [leaf] = await port.leavesOf('change', [number]);
      const [fact] = await port.changes(number - 1, number);
      if (leaf !== undefined && fact !== undefined && !places.has(leaf.place)) {
        await show('context.txt', leaf, fact.record);
        for (const version of await port.versions(String(fact.record['resource']), [number]))
          await showBytes(exporting, version);
      }
    }
  }

  async function prove(): Promise<void> {
    if (since !== null && since.size > size)
      refuse(`the older checkpoint has ${since.size} leaves, this one ${size}`);
    const nodes: string[] = [];
    const proof = proveLeaves(places, since?.size ?? 0, (level, index, hash) => {
      nodes.push(`${level} ${index} ${hash}\n`);
    });
    for (let from = 0; from < size; from += AT_ONCE) {
      for (const commitment of await port.commitments(from, Math.min(size, from + AT_ONCE))) {
        proof.add(commitment);
        if (proof.size() === since?.size && proof.root() !== since.root)
          refuse('this log does not go on from the older checkpoint');
      }
      await write('nodes.txt', nodes.splice(0).join(''));
    }
    if (proof.root() !== headOf(checkpoint?.note ?? '').root)
      refuse('the log is not that of its checkpoint: see "verify"');
    proof.end();
    await write('nodes.txt', nodes.join(''));
  }
}

/** The newest that was signed by an instant. */
async function checkpointAt(port: EvidencePort, at: number | null): Promise<Checkpoint | null> {
  let found = await port.checkpoint(Number.MAX_SAFE_INTEGER);
  if (at === null || found === null || isSigned(found)) return found;
  let [low, high] = [0, found.size];
  for (found = null; low < high; ) {
    const middle = Math.floor((low + high) / 2);
    const known = await port.checkpoint(middle);
    if (known !== null && !isSigned(known)) high = known.size;
    else {
      found = known ?? found;
      low = middle + 1;
    }
  }
  return found;

  function isSigned({ note }: Checkpoint): boolean {
    return Date.parse(note.split('\n')[3] ?? '') <= Number(at);
  }
}

async function showBytes(
  { document: keep, certificate }: Exporting,
  { record, document, file }: Version,
): Promise<void> {
  if (document !== null) await keep(`documents/${record['document_sha256']}.json`, document);
  if (file !== null)
    await certificate(`certificates/${record['sha256']}.pdf`, file, String(record['sha256']));
}

function isAsked(asked: What, organizationId: string): boolean {
  if (asked.what === 'period') return true;
  return organizationId === (asked.what === 'organization' ? asked.which : asked.organizationId);
}

function isIn({ what, which }: What, row: Standing): boolean {
  return what === 'organization' || groupsOf(row).some(group => group.split(' ')[2]?.startsWith(which));
}

function mirrored(row: Standing): string {
  return groupsOf(row).at(-1) ?? '';
}

function demandSealed({ salt, commitment }: Sealed, record: Fact['record'], otherwise: string): void {
  if (salt === null || !commit(salt, record).equals(commitment)) refuse(otherwise);
}

function refuse(why: string): never {
  throw new EvidenceError('refused', `not exported: ${why}`);
}
