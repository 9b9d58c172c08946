import { sign } from 'node:crypto';
import { recordOf } from './commitment.js';
import { hexOf } from './hashes.js';
import { nextKeyFile, readKeyFile, replaceKeyFile } from './key-file.js';
import { isSignedBy, type SigningKey, type Verifier } from './note.js';
import { ALL, type Cells, type EvidencePort, createObservation } from './port.js';
import { appendOne, withClaim, type Writing } from './write.js';

/** A new key under the old name: a leaf says so, which the old key has signed. Killed meanwhile, it is done by doing it again. */
export async function renewKey(writing: Writing, keyFile: string): Promise<SigningKey> {
  return await withClaim(writing, async () => {
    const old = readKeyFile(keyFile);
    const next = nextKeyFile(keyFile, old.name);
    const at = new Date(writing.now()).toISOString();
    const given = { old: hexOf(old.publicKey), new: hexOf(next.publicKey), at };
    const signature = sign(null, textOf(given), old.privateKey).toString('base64');
    await appendOne(writing, createObservation('key', { ...given, signature }));
    replaceKeyFile(keyFile, at);
    return next;
  });
}

/** By which key a tree of some size is to be signed: each was replaced at the place of a leaf, by one that it signed. */
export async function readSigners(port: EvidencePort, newest: Verifier): Promise<(size: number) => Verifier> {
  const signers: (readonly [place: number, signer: Verifier])[] = [];
  let signer = newest;
  for (const leaf of (await port.leaves({ told: ALL })).toReversed()) {
    const record = recordOf(leaf);
    if (leaf.kind !== 'key' || record['new'] !== hexOf(signer.publicKey)) continue;
    const before = { name: newest.name, publicKey: Buffer.from(String(record['old']), 'hex') };
    if (!isSignedBy(before, textOf(record), Buffer.from(String(record['signature']), 'base64'))) continue;
    signers.unshift([leaf.place, before]);
    signer = before;
  }
  return size => signers.find(([place]) => size <= place)?.[1] ?? newest;
}

/** Returns the text that the old key signs, as docs/evidence-format.md describes it. */
function textOf({ old, new: next, at }: Cells): Buffer {
  return Buffer.from(`carbon-mirror key\n${old}\n${next}\n${at}\n`);
}
