import { type Head, headOf } from './checkpoint.js';
import { canonicalJson, isSealed } from './commitment.js';
import { groupsOf, readComplete, readMonths, readOrganizations, readStood, type Stood } from './complete.js';
import { EvidenceError } from './errors.js';
import type { Checkpoint, EvidencePort, Fact, Leaf, Standing, Version } from './port.js';
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

type File = 'rows.txt' | 'context.txt';

/** Writes what proves it, as docs/check.sh reads it. Answers the checkpoint, and the numbers of the syncs that showed it. */
export async function exportEvidence(exporting: Exporting) {
  const { port, asked, write, since } = exporting;
  const checkpoint = await checkpointAt(port, exporting.asOf ?? Infinity);
  if (checkpoint === null) refuse('nothing was sealed by then');
  const { size } = checkpoint;
  const { leaf: complete, upTo } = await readComplete(port, size);
  if (complete === null || complete.place !== size - 1) refuse('the checkpoint does not say what is whole');
  const organizations = await readOrganizations(port, complete.place, upTo);
  if (!isSealed(complete, organizations.record)) refuse('a purge has removed what it said of organizations');
  const places = new Set<number>();
  const syncs = new Set<number>();
  let rows = 0;
  await write('WHAT.txt', `${asked.what} ${asked.which}\n`);
  await write('checkpoint.txt', checkpoint.note);
  await write('organizations.txt', organizations.text);
  for (const file of ['rows.txt', 'others.txt', 'nodes.txt']) await write(file, '');
  for (const leaf of organizations.leaves) {
    if (!concerns(asked, leaf.subject)) continue;
    const { text, record } = await readMonths(port, String(leaf.subject), upTo);
    await show('context.txt', leaf, record);
    await write(`months/${leaf.place}.txt`, text);
    await showRows(String(leaf.subject), leaf.place);
  }
  await show('context.txt', complete, organizations.record);
  for (const leaf of await port.leaves({ kind: 'sync', numbers: [...syncs] })) {
    const [fact] = await port.facts('sync', leaf.number - 1, leaf.number);
    if (leaf.salt !== null && leaf.place < size && fact !== undefined)
      await show('context.txt', leaf, fact.record);
  }
  await prove();
  return { checkpoint, rows, syncs: [...syncs] };

  async function show(file: File, leaf: Leaf, record: Fact['record']): Promise<void> {
    if (!isSealed(leaf, record)) refuse(`${leaf.kind} ${leaf.number} is not as it was sealed: see "verify"`);
    if (places.has(leaf.place)) return;
    places.add(leaf.place);
    if (file === 'rows.txt') rows += 1;
    if (record['sync_id'] != null) syncs.add(Number(record['sync_id']));
    const salt = Buffer.from(leaf.salt ?? Buffer.of()).toString('hex');
    await write(file, `${leaf.place} ${salt} ${canonicalJson(record)}\n`);
  }

  async function showVersions(file: File, resource: string, leaves: readonly Leaf[]): Promise<Version[]> {
    const found = await port.versions(
      resource,
      leaves.map(({ number }) => number),
    );
    const versions = new Map(found.map(each => [each.number, each]));
    for (const leaf of leaves) {
      const version = versions.get(leaf.number);
      if (version === undefined) refuse(`change ${leaf.number} is not there: see "verify"`);
      const { record, document, file: stored } = version;
      await show(file, leaf, record);
      if (document !== null)
        await exporting.document(`documents/${record['document_sha256']}.json`, document);
      const hash = String(record['sha256']);
      if (stored !== null) await exporting.certificate(`certificates/${hash}.pdf`, stored, hash);
      if (file === 'rows.txt') await exporting.rowShown(version);
    }
    return [...versions.values()];
  }

  /** Rows as they stand, and with a retirement its certificate; of one retirement what it was before, too. */
  async function showRows(organizationId: string, organizationPlace: number): Promise<void> {
    const retirements = new Set<unknown>();
    const shared = new Set<string>();
    for await (const stood of readStood(port, organizationId, upTo)) {
      const resource = stood[0]?.resource ?? '';
      const shown = stood.filter(row => isAsked(asked, row));
      for (const row of shown) shared.add(mirrored(row));
      const versions = await showVersions(
        'rows.txt',
        resource,
        shown.map(({ leaf }) => leaf),
      );
      if (resource === 'retirements') for (const { record } of versions) retirements.add(record['id']);
      if (resource !== 'certificates' || asked.what !== 'period') continue;
      const rest = stood.filter(row => !shown.includes(row));
      const known = await port.versions(
        resource,
        rest.map(({ number }) => number),
      );
      const beside = known.filter(({ record }) => retirements.has(record['retirement_id']));
      const numbers = new Set(beside.map(({ number }) => number));
      await showVersions(
        'context.txt',
        resource,
        rest.filter(({ number }) => numbers.has(number)).map(({ leaf }) => leaf),
      );
    }
    if (asked.what !== 'retirement') return;
    for await (const stood of readStood(port, organizationId, upTo))
      for (const row of stood)
        if (shared.has(mirrored(row)) && !isAsked(asked, row))
          await write('others.txt', `${organizationPlace} ${mirrored(row)} ${row.number} ${hexOf(row)}\n`);
    for (const leaf of await port.leaves({ kind: 'change', numbers: asked.numbers })) {
      const [fact] = await port.facts('change', leaf.number - 1, leaf.number);
      if (leaf.place >= size || places.has(leaf.place) || fact === undefined) continue;
      if (fact.record['closed_version'] === undefined)
        await showVersions('context.txt', String(leaf.resource), [leaf]);
      else await show('context.txt', leaf, fact.record);
    }
  }

  async function prove(): Promise<void> {
    if (since !== null && since.size > size)
      refuse(`the older checkpoint has ${since.size} leaves, this one ${size}`);
    const nodes: string[] = [];
    const proof = proveLeaves(places, since?.size ?? 0, (level, index, hash) => {
      nodes.push(`${level} ${index} ${hash}\n`);
    });
    for await (const commitment of port.commitments(0, size)) {
      proof.add(commitment);
      if (proof.size() === since?.size && proof.root() !== since.root)
        refuse('the log does not go on from the older checkpoint: it is of another log');
    }
    if (proof.root() !== headOf(checkpoint?.note ?? '').root)
      refuse('the log is not that of its checkpoint: see "verify"');
    proof.end();
    await write('nodes.txt', nodes.join(''));
  }
}

/** The newest that was signed by an instant: all that cover fewer leaves are older. */
async function checkpointAt(port: EvidencePort, at: number): Promise<Checkpoint | null> {
  let size = 0;
  for (let step = 2 ** 52; step >= 1; step /= 2) {
    const known = await port.checkpoint(size + step);
    if (known === null || Date.parse(known.note.split('\n')[3] ?? '') <= at) size += step;
  }
  return await port.checkpoint(size);
}

function concerns(asked: What, organizationId: string | null): boolean {
  if (asked.what === 'period') return true;
  return organizationId === (asked.what === 'organization' ? asked.which : asked.organizationId);
}

function isAsked(asked: What, row: Standing): boolean {
  if (asked.what === 'retirement') return asked.numbers.includes(row.number);
  const { what, which } = asked;
  return what === 'organization' || groupsOf(row).some(group => group.split(' ')[2]?.startsWith(which));
}

function mirrored(row: Standing): string {
  return groupsOf(row).at(-1) ?? '';
}

function hexOf({ leaf }: Stood): string {
  return Buffer.from(leaf.commitment).toString('hex');
}

function refuse(why: string): never {
  throw new EvidenceError('refused', `not exported: ${why}`);
}
