import { type Head, headOf, signedAt } from './checkpoint.js';
import { canonicalJson, isSealed } from './commitment.js';
import { groupsOf, readComplete, readMonths, readNamed } from './complete.js';
import { refuse } from './errors.js';
import { ALL, type Checkpoint, type EvidencePort, type Fact, type Leaf } from './port.js';
import { nodesOfProof } from './proof.js';
import { EMPTY, growTree } from './tree.js';

/** What is to be shown: all that is dated or was observed in a month or year, all of an organization, or one retirement. */
export interface What {
  readonly what: 'period' | 'organization' | 'retirement';
  readonly which: string;
  /** Null where it is each of them. */
  readonly organizationId: string | null;
  /** Of a retirement those of all its versions and of its end, and of its certificate. */
  readonly numbers: readonly number[];
}

export interface Exporting {
  readonly port: EvidencePort;
  readonly asked: What;
  /** In milliseconds; null for the newest checkpoint. */
  readonly asOf: number | null;
  /** A checkpoint that somebody holds. */
  readonly since: Head | null;
  /** Adds to a file of the folder. */
  readonly write: (file: string, text: string) => Promise<void>;
  readonly rowShown: (row: Fact) => Promise<void>;
  /** Writes a file of the folder, unless it is there. */
  readonly document: (file: string, text: string) => Promise<void>;
  /** Writes the bytes of a certificate to a file of the folder. */
  readonly certificate: (file: string, stored: string, hash: string) => Promise<void>;
}

type File = 'rows.txt' | 'context.txt';

/** Writes what proves it, as docs/check.sh reads it. Answers the checkpoint, and the numbers of the syncs that showed it. */
export async function exportEvidence(exporting: Exporting) {
  const { port, asked, write, since } = exporting;
  const checkpoint =
    (await checkpointAt(port, exporting.asOf ?? Infinity)) ?? refuse('nothing was sealed by then');
  const { size } = checkpoint;
  const { leaf: complete, upTo } = await readComplete(port, size);
  if (complete?.place !== size - 1) refuse('the checkpoint does not say what is whole');
  const named = await readNamed(port, complete.place, upTo);
  const places = new Set<number>();
  const syncs = new Set<number>();
  let rows = 0;
  await write('WHAT.txt', `${asked.what} ${asked.which}\n`);
  await write('checkpoint.txt', checkpoint.note);
  await write('named.txt', named.text);
  for (const file of ['rows.txt', 'others.txt', 'nodes.txt']) await write(file, '');
  for (const leaf of named.organizations) {
    if (!concerns(leaf)) continue;
    const { text, fact } = await readMonths(port, String(leaf.subject), upTo);
    await show('context.txt', leaf, fact);
    await write(`months/${leaf.place}.txt`, text);
    await showRows(String(leaf.subject), leaf.place);
  }
  await show('context.txt', complete, named.fact);
  for (const leaf of await port.leaves({ kind: 'sync', numbers: [...syncs] })) {
    const [fact] = await port.facts('sync', leaf.number - 1, leaf.number);
    if (leaf.salt !== null && leaf.place < size && fact !== undefined) await show('context.txt', leaf, fact);
  }
  for (const leaf of [...named.told, ...named.coverage.filter(concerns)])
    await writeLeaf('context.txt', leaf, leaf.record ?? '');
  await prove(headOf(checkpoint.note));
  return { checkpoint, rows, syncs: [...syncs] };

  function concerns({ subject }: Leaf): boolean {
    return asked.organizationId === null || asked.organizationId === subject;
  }

  async function writeLeaf(file: File, leaf: Leaf, text: string): Promise<boolean> {
    if (!isSealed(leaf, text)) await refuseAs(leaf);
    if (places.has(leaf.place)) return false;
    places.add(leaf.place);
    await write(file, `${leaf.place} ${hexOf(leaf.salt ?? Buffer.of())} ${text}\n`);
    return true;
  }

  /** What was erased after the checkpoint is whole in it no more. */
  async function refuseAs({ kind, number }: Leaf): Promise<never> {
    const later = await port.leaves({ told: ALL });
    const erased = later.find(
      each => each.place >= size && (each.kind === 'forget' || each.kind === 'purge'),
    );
    return refuse(
      erased === undefined
        ? `${kind} ${number} is not as it was sealed: see "verify"`
        : `rows were erased by a ${erased.kind} after the checkpoint of ${signedAt(checkpoint.note)}: what stood then cannot be shown whole any more. Ask for what stands now`,
    );
  }

  async function show(file: File, leaf: Leaf, fact: Fact): Promise<void> {
    const { record, document, file: stored } = fact;
    if (!(await writeLeaf(file, leaf, canonicalJson(record)))) return;
    for (const id of [record['sync_id'], record['ended_by']]) if (id != null) syncs.add(Number(id));
    if (document !== null) await exporting.document(`documents/${record['document_sha256']}.json`, document);
    const hash = String(record['sha256']);
    if (stored !== null) await exporting.certificate(`certificates/${hash}.pdf`, stored, hash);
    if (file === 'rows.txt') rows += 1;
    if (file === 'rows.txt' || fact.resource === 'certificates') await exporting.rowShown(fact);
  }

  /** Each with its row, of one list. Those that are no more are answered, too. */
  async function readChanges(leaves: readonly Leaf[]): Promise<(readonly [Leaf, Fact])[]> {
    const numbers = leaves.map(({ number }) => number);
    const facts = await port.versions(leaves[0]?.resource ?? '', numbers);
    const byNumber = new Map(facts.map(fact => [fact.number, fact]));
    const rowOf = ({ number }: Leaf): Fact =>
      byNumber.get(number) ?? refuse(`change ${number} is not there: see "verify"`);
    return leaves.map(leaf => [leaf, rowOf(leaf)] as const);
  }

  /** Rows as they stand, and with a retirement its certificate; of one retirement what it was before, too. */
  async function showRows(organizationId: string, organizationPlace: number): Promise<void> {
    const retirements = new Set<unknown>();
    const known = await port.leaves({ kind: 'change', numbers: asked.numbers });
    const versions = known.filter(({ number }) => number <= upTo);
    const months = new Set(versions.map(mirrored));
    for await (const standing of port.standing(organizationId, upTo)) {
      const shown = standing.filter(leaf => isAsked(asked, leaf));
      const others = standing.filter(leaf => !isAsked(asked, leaf));
      for (const [leaf, fact] of await readChanges(shown)) {
        await show('rows.txt', leaf, fact);
        if (leaf.resource === 'retirements') retirements.add(fact.record['id']);
      }
      if (standing[0]?.resource === 'certificates' && asked.what === 'period')
        for (const [leaf, fact] of await readChanges(others))
          if (retirements.has(fact.record['retirement_id'])) await show('context.txt', leaf, fact);
      for (const leaf of others.filter(each => months.has(mirrored(each))))
        await write(
          'others.txt',
          `${organizationPlace} ${mirrored(leaf)} ${leaf.number} ${hexOf(leaf.commitment)}\n`,
        );
    }
    for (const version of versions)
      for (const [leaf, fact] of await readChanges([version])) await show('context.txt', leaf, fact);
  }

  async function prove({ root }: Head): Promise<void> {
    if (since !== null && since.size > size)
      refuse(`the older checkpoint has ${since.size} leaves, this one ${size}`);
    const needed = nodesOfProof(places, since?.size ?? 0, size);
    const nodes: string[] = [];
    const tell = (level: number, index: number, hash: Uint8Array) => {
      if (needed.has(`${level} ${index}`)) nodes.push(`${level} ${index} ${hexOf(hash)}\n`);
    };
    const tree = growTree(EMPTY, tell);
    let grown = 0;
    for await (const commitment of port.commitments(0, size)) {
      tree.add(commitment);
      grown += 1;
      if (grown === since?.size && tree.root() !== since.root)
        refuse('the log does not go on from the older checkpoint: it is of another log');
    }
    if (tree.root() !== root) refuse('the log is not that of its checkpoint: see "verify"');
    await write('nodes.txt', nodes.join(''));
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

function isAsked({ what, which, numbers }: What, leaf: Leaf): boolean {
  if (what === 'period') return groupsOf(leaf).some(group => group.split(' ')[2]?.startsWith(which));
  return what === 'organization' || numbers.includes(leaf.number);
}

function mirrored(leaf: Leaf): string {
  return groupsOf(leaf).at(-1) ?? '';
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
