import { createHash, createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { verifyCheckpoint } from '@sigstore/verify/dist/timestamp/checkpoint.js';
import { verifyMerkleInclusion } from '@sigstore/verify/dist/timestamp/merkle.js';
import { RFC9162 } from '@transmute/rfc9162';
import { parseTreeHead } from '../../src/evidence/checkpoint.js';
import {
  computeCommitment,
  getKind,
  getPlace,
  type Line,
  parseLines,
  readContent,
} from './evidence-folder.js';

const SPKI = Buffer.from('302a300506032b6570032100', 'hex');
const ALWAYS = { start: new Date(0), end: new Date(8.64e15) };

const sha256 = (...parts: readonly Uint8Array[]) =>
  createHash('sha256').update(Buffer.concat(parts)).digest();
const readText = (folder: string, file: string) => readFileSync(join(folder, file), 'utf8');

/** Computes the commitments of the leaves in a folder, by leaf index. */
function computeCommitments(lines: readonly Line[]): ReadonlyMap<number, Buffer> {
  const leaves = lines.filter(({ record }) => record !== undefined);
  return new Map(leaves.map(leaf => [getPlace(leaf), Buffer.from(computeCommitment(leaf), 'hex')]));
}

/** Computes the tree nodes that a folder determines. Returns a lookup by level and index. */
function computeNodes(lines: readonly Line[], commitments: ReadonlyMap<number, Buffer>, size: number) {
  const nodes = new Map<string, Buffer>();
  for (const line of lines.filter(each => getKind(each) === 'level'))
    nodes.set(`${Number(line['level'])} ${Number(line['index'])}`, Buffer.from(String(line['hash']), 'hex'));
  for (const [place, commitment] of commitments) nodes.set(`0 ${place}`, sha256(Buffer.of(0), commitment));
  for (let [level, count] = [0, size]; count > 1; [level, count] = [level + 1, Math.ceil(count / 2)])
    for (let index = 0; index < count; index += 2) {
      const left = nodes.get(`${level} ${index}`);
      const right = nodes.get(`${level} ${index + 1}`);
      if (left === undefined || (right === undefined && index + 1 < count)) continue;
      const whole = right === undefined ? left : sha256(Buffer.of(1), left, right);
      nodes.set(`${level + 1} ${index / 2}`, whole);
    }
  return (level: number, index: number): Buffer => {
    const node = nodes.get(`${level} ${index}`);
    if (node === undefined) throw new Error(`the folder lacks node ${index} of level ${level}`);
    return node;
  };
}

type GetNode = ReturnType<typeof computeNodes>;

/** Creates the RFC 6962 inclusion proof of a leaf, lowest node first. */
function createInclusionProof(nodeAt: GetNode, place: number, size: number): Buffer[] {
  const path: Buffer[] = [];
  for (let [level, index, count] = [0, place, size]; count > 1; level += 1) {
    const neighbour = index % 2 === 0 ? index + 1 : index - 1;
    if (neighbour < count) path.push(nodeAt(level, neighbour));
    [index, count] = [Math.floor(index / 2), Math.ceil(count / 2)];
  }
  return path;
}

/** Creates the RFC 6962 consistency proof (SUBPROOF) from a tree with `older` leaves. */
function createConsistencyProof(
  nodeAt: GetNode,
  older: number,
  from: number,
  to: number,
  isWhole: boolean,
): Buffer[] {
  const hashOf = (start: number, end: number) => {
    const level = Math.ceil(Math.log2(end - start));
    return nodeAt(level, start / 2 ** level);
  };
  const leaves = to - from;
  if (older === leaves) return isWhole ? [] : [hashOf(from, to)];
  const middle = from + 2 ** Math.ceil(Math.log2(leaves) - 1);
  if (older <= middle - from)
    return [...createConsistencyProof(nodeAt, older, from, middle, isWhole), hashOf(middle, to)];
  return [
    ...createConsistencyProof(nodeAt, older - (middle - from), middle, to, false),
    hashOf(from, middle),
  ];
}

/** Checks the note and each leaf of a folder with sigstore, and its consistency with an older checkpoint with transmute's RFC 9162. Returns the faults. */
export async function checkWithOtherLibraries(
  folder: string,
  { name, publicKey }: { readonly name: string; readonly publicKey: Buffer },
  olderNote: string,
): Promise<string[]> {
  const envelope = readText(folder, 'checkpoint.txt');
  const { size, root } = parseTreeHead(envelope);
  const lines = parseLines(readContent(folder));
  const commitments = computeCommitments(lines);
  const nodeAt = computeNodes(lines, commitments, size);
  const logId = sha256(Buffer.from(`${name}\n`), Buffer.of(1), publicKey);
  const spki = createPublicKey({ key: Buffer.concat([SPKI, publicKey]), format: 'der', type: 'spki' });
  const entryOf = (place: number, commitment: Buffer) => ({
    logIndex: String(place),
    logId: { keyId: logId },
    kindVersion: { kind: '', version: '' },
    integratedTime: '0',
    inclusionPromise: undefined,
    inclusionProof: {
      logIndex: String(place),
      treeSize: String(size),
      rootHash: Buffer.from(root, 'base64'),
      hashes: createInclusionProof(nodeAt, place, size),
      checkpoint: { envelope },
    },
    canonicalizedBody: commitment,
  });
  const faults: string[] = [];
  for (const [place, commitment] of commitments)
    try {
      const entry = entryOf(place, commitment);
      verifyMerkleInclusion(entry);
      verifyCheckpoint(entry, [{ logID: logId, publicKey: spki, validFor: ALWAYS }]);
    } catch (error) {
      faults.push(`leaf ${place}: ${error instanceof Error ? error.message : String(error)}`);
    }
  const older = parseTreeHead(olderNote);
  const olderRoot = Buffer.from(older.root, 'base64');
  /** RFC 9162 puts the root of the older tree first if that tree is complete. */
  const isComplete = Number.isInteger(Math.log2(older.size));
  const path = createConsistencyProof(nodeAt, older.size, 0, size, true);
  const proof = {
    log_id: '',
    tree_size_1: older.size,
    tree_size_2: size,
    consistency_path: isComplete ? [olderRoot, ...path] : path,
  };
  if (!(await RFC9162.verifyConsistencyProof(olderRoot, Buffer.from(root, 'base64'), proof)))
    faults.push('it does not go on from the older checkpoint');
  return faults;
}
