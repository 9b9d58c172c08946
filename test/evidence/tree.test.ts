import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { toCanonicalJson, computeCommitment } from '../../src/evidence/leaf.js';
import { parseSigningKey, formatVerifierKey, formatSigningKey } from '../../src/evidence/signing-key.js';
import { openNote, signNote } from '../../src/evidence/signed-note.js';
import { EMPTY_TREE, createMerkleTree } from '../../src/evidence/tree.js';

const bytes = (hex: string) => Buffer.from(hex, 'hex');

/** Eight entries of the RFC 6962 reference implementation, and the roots of the trees over the first 0 to 8 of them. */
const ENTRIES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
];
const ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

test.each(ROOTS.map((root, size) => [size, root] as const))(
  'the root of a tree with %i entries is the root of RFC 6962',
  (size, root) => {
    const tree = createMerkleTree(EMPTY_TREE);
    for (const entry of ENTRIES.slice(0, size)) tree.append(bytes(entry));
    expect(Buffer.from(tree.computeRoot(), 'base64').toString('hex')).toBe(root);
  },
);

test('a tree that continues from saved peaks equals a tree that was never interrupted', () => {
  for (let size = 0; size <= ENTRIES.length; size += 1) {
    const before = createMerkleTree(EMPTY_TREE);
    for (const entry of ENTRIES.slice(0, size)) before.append(bytes(entry));
    const after = createMerkleTree(before.getPeaks());
    for (const entry of ENTRIES.slice(size)) after.append(bytes(entry));
    expect(Buffer.from(after.computeRoot(), 'base64').toString('hex')).toBe(ROOTS.at(-1));
    expect(after.getPeaks().size).toBe(ENTRIES.length);
  }
});

/** The example in the documentation of Go's `sumdb/note`. */
const GO = {
  key: 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz\n',
  verifier: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  text: "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n",
  signature:
    '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
};

test('a signed note and its key equal those of the Go implementation', () => {
  const key = parseSigningKey(GO.key);
  expect(formatVerifierKey(key)).toBe(GO.verifier);
  expect(signNote(GO.text, key)).toBe(`${GO.text}\n${GO.signature}`);
  expect(formatSigningKey(key, Buffer.from('gQoUAtUUbI2E8kQzMPVAgOv5juF9nHT2JS/F1ccoMXM=', 'base64'))).toBe(
    GO.key,
  );
});

test('T92 a note verifies only with the key that signed it', () => {
  const key = parseSigningKey(GO.key);
  const note = signNote(GO.text, key);
  expect(openNote(note, key)).toBe(GO.text);
  expect(openNote(note.replace('answer', 'remedy'), key)).toBeNull();
  expect(openNote(note.replace('x08go/ZJ', 'x08go/ZK'), key)).toBeNull();
  expect(openNote(note.replace('PeterNeumann', 'Peter'), key)).toBeNull();
  expect(openNote(GO.text, key)).toBeNull();
  const second = `${note}— witness.example AAAAAAAA\n`;
  expect(openNote(second, key)).toBe(GO.text);
});

test.each(['', 'PRIVATE+KEY+a+00000000+AAAA\n', GO.key.replace('c74f20a3', 'c74f20a4'), GO.key.trim()])(
  'text that is not a key is refused: %j',
  text => expect(() => parseSigningKey(text)).toThrow('evidence init'),
);

test('a record is canonical JSON without cells that have no value', () => {
  const record = { b: 'Zürich "Ł" \u2028', a: 9_007_199_254_740_993n, empty: null, real: 12.5, zero: 0 };
  expect(toCanonicalJson(record)).toBe(
    '{"a":9007199254740993,"b":"Zürich \\"Ł\\" \u2028","real":12.5,"zero":0}',
  );
  const salt = Buffer.alloc(32, 7);
  const known = createHash('sha256').update(salt).update(toCanonicalJson(record)).digest('hex');
  expect(computeCommitment(salt, toCanonicalJson(record)).toString('hex')).toBe(known);
});
