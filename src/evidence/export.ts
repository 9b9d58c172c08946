import { type Head, headOf, signedAt } from './checkpoint.js';
import { canonicalJson, isSealed } from './commitment.js';
import {
  groupsOf,
  observeComplete,
  observeOrganization,
  readComplete,
  readMonths,
  readNamed,
} from './complete.js';
import { refuse } from './errors.js';
import { hexOf } from './hashes.js';
import { ALL, type Checkpoint, type EvidencePort, type Observation, type Leaf } from './port.js';
import { nodesOfProof } from './proof.js';
import { EMPTY, growTree } from './tree.js';

/** What is to be shown: all that is dated or was observed in a month or year, all of an organization, or one retirement. */
export interface ExportScope {
  readonly what: 'period' | 'organization' | 'retirement';
  readonly which: string;
  /** Null where it is each of them. */
  readonly organizationId: string | null;
  /** Of a retirement those of all its versions and of its end, and of its certificate. */
  readonly numbers: readonly number[];
}

export interface ExportRequest {
  readonly port: EvidencePort;
  readonly asked: ExportScope;
  /** In milliseconds; null for the newest checkpoint. */
  readonly asOf: number | null;
  /** A checkpoint that somebody holds. */
  readonly since: Head | null;
  /** Adds to a file of the folder. */
  readonly write: (file: string, text: string) => void;
  /** Adds what the registry sent with it, and a row to the page. */
  readonly attach: (fact: Observation, file: File) => Promise<void>;
}

type File = 'rows.txt' | 'context.txt';

/** Writes what proves it, as docs/check.sh reads it. Answers the checkpoint, and the numbers of the syncs that showed it. */
export async function exportEvidence({ port, asked, asOf, since, write, attach }: ExportRequest) {
  const checkpoint = (await checkpointAt(port, asOf ?? Infinity)) ?? refuse('nothing was sealed by then');
  const { size } = checkpoint;
  const { leaf: complete, fields } = await readComplete(port, size);
  const { up_to: upTo } = fields;
  if (complete?.place !== size - 1) refuse('the checkpoint does not say what is whole');
  const named = await readNamed(port, complete.place);
  const known = await port.leaves({ kind: 'change', numbers: asked.numbers });
  const versions = known.filter(({ number }) => number <= upTo);
  const monthsOfVersions = new Set(versions.map(mirrored));
  const places = new Set<number>();
  const syncs = new Set<number>();
  write('WHAT.txt', `${asked.what} ${asked.which}\n`);
  write('checkpoint.txt', checkpoint.note);
  write('named.txt', named.text);
  for (const file of ['rows.txt', 'others.txt', 'nodes.txt']) write(file, '');
  for (const leaf of named.organizations) {
    if (!concerns(leaf)) continue;
    const { text, totals } = await readMonths(port, String(leaf.subject), upTo);
    const fact = await observeOrganization(port, String(leaf.subject), { upTo, before: leaf.place }, totals);
    await show('context.txt', leaf, fact);
    write(`months/${leaf.place}.txt`, text);
    await showRows(String(leaf.subject), leaf.place);
  }
  for (const version of versions) await showChanges('context.txt', [version]);
  await show('context.txt', complete, observeComplete(named, fields));
  for (const leaf of await port.leaves({ kind: 'sync', numbers: [...syncs] })) {
    const [fact] = await port.facts('sync', leaf.number - 1, leaf.number);
    if (leaf.salt !== null && leaf.place < size && fact !== undefined) await show('context.txt', leaf, fact);
  }
  for (const leaf of [...named.told, ...named.coverage.filter(concerns)])
    await writeLeaf('context.txt', leaf, leaf.record ?? '');
  await prove(headOf(checkpoint.note));
  return { checkpoint, syncs: [...syncs] };

  function concerns({ subject }: Leaf): boolean {
    return asked.organizationId === null || asked.organizationId === subject;
  }

  async function writeLeaf(file: File, leaf: Leaf, text: string): Promise<boolean> {
    if (!isSealed(leaf, text)) await refuseAs(leaf);
    if (places.has(leaf.place)) return false;
    places.add(leaf.place);
    write(file, `${leaf.place} ${hexOf(leaf.salt ?? Buffer.of())} ${text}\n`);
    return true;
  }

  /** What was erased after the checkpoint is whole in it no more: a leaf without its salt, and what names all others. */
  async function refuseAs({ kind, number, salt }: Leaf): Promise<never> {
    const told = salt === null || kind === 'complete' ? await port.leaves({ told: ALL }) : [];
    const erased = told.find(each => each.place >= size && ['forget', 'purge'].includes(each.kind));
    return refuse(
      erased === undefined
        ? `${kind} ${number} is not as it was sealed: see "verify"`
        : `rows were erased by a ${erased.kind} after the checkpoint of ${signedAt(checkpoint.note)}: what stood then cannot be shown whole any more. Ask for what stands now`,
    );
  }

  async function show(file: File, leaf: Leaf, fact: Observation): Promise<void> {
    const { record } = fact;
    if (!(await writeLeaf(file, leaf, canonicalJson(record)))) return;
    for (const id of [record['sync_id'], record['ended_by']]) if (id != null) syncs.add(Number(id));
    await attach(fact, file);
  }

  /** Those of one list, of which something is so. Answers their rows. */
  async function showChanges(
    file: File,
    leaves: readonly Leaf[],
    isShown: (fact: Observation) => boolean = () => true,
  ): Promise<readonly Observation[]> {
    const numbers = leaves.map(({ number }) => number);
    const facts = await port.versions(leaves[0]?.resource ?? '', numbers);
    const byNumber = new Map(facts.map(fact => [fact.number, fact]));
    for (const leaf of leaves) {
      const fact = byNumber.get(leaf.number) ?? refuse(`change ${leaf.number} is not there: see "verify"`);
      if (isShown(fact)) await show(file, leaf, fact);
    }
    return facts;
  }

  /** Rows as they stand, and with a retirement its certificate. */
  async function showRows(organizationId: string, organizationPlace: number): Promise<void> {
    const retirements = new Set<unknown>();
    for await (const standing of port.standing(organizationId, upTo)) {
      const others = standing.filter(leaf => !isAsked(asked, leaf));
      const shown = await showChanges(
        'rows.txt',
        standing.filter(leaf => isAsked(asked, leaf)),
      );
      for (const { resource, record } of shown) if (resource === 'retirements') retirements.add(record['id']);
      if (standing[0]?.resource === 'certificates' && asked.what === 'period')
        await showChanges('context.txt', others, ({ record }) => retirements.has(record['retirement_id']));
      for (const leaf of others.filter(each => monthsOfVersions.has(mirrored(each))))
        write(
          'others.txt',
          `${organizationPlace} ${mirrored(leaf)} ${leaf.number} ${hexOf(leaf.commitment)}\n`,
        );
    }
  }

  async function prove({ root }: Head): Promise<void> {
    const older = since?.size ?? 0;
    if (older > size) refuse(`the older checkpoint has ${older} leaves, this one ${size}`);
    const needed = nodesOfProof(places, older, size);
    const nodes: string[] = [];
    const tree = growTree(EMPTY, (level, index, hash) => {
      if (needed.has(`${level} ${index}`)) nodes.push(`${level} ${index} ${hexOf(hash)}\n`);
    });
    await tree.grow(port.commitments(0, older));
    if (since !== null && tree.root() !== since.root)
      refuse('the log does not go on from the older checkpoint: it is of another log');
    await tree.grow(port.commitments(older, size));
    if (tree.root() !== root) refuse('the log is not that of its checkpoint: see "verify"');
    write('nodes.txt', nodes.join(''));
  }
}

/** The newest that was signed by an instant: all that cover fewer leaves are older. */
async function checkpointAt(port: EvidencePort, at: number): Promise<Checkpoint | null> {
  let size = 0;
  for (let step = 2 ** 52; step >= 1; step /= 2) {
    const known = await port.checkpoint(size + step);
    if (known === null || Date.parse(signedAt(known.note)) <= at) size += step;
  }
  return await port.checkpoint(size);
}

function isAsked({ what, which, numbers }: ExportScope, leaf: Leaf): boolean {
  if (what === 'period') return groupsOf(leaf).some(group => group.split(' ')[2]?.startsWith(which));
  return what === 'organization' || numbers.includes(leaf.number);
}

function mirrored(leaf: Leaf): string {
  return groupsOf(leaf).at(-1) ?? '';
}
