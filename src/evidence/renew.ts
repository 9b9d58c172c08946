import { sign } from 'node:crypto';
import { nextKeyFile, readKeyFile, replaceKeyFile } from './key-file.js';
import { isSignedBy, type SigningKey, type Verifier } from './note.js';
import { ALL, type EvidencePort, factOf } from './port.js';
import { appendOne, withClaim, type Writing } from './write.js';

/** A new key under the old name: a leaf says so, which the old key has signed. Killed meanwhile, it is done by doing it again. */
export async function renewKey(writing: Writing, keyFile: string): Promise<SigningKey> {
  return await withClaim(writing, async () => {
    const old = readKeyFile(keyFile);
    const next = nextKeyFile(keyFile, old.name);
    const at = new Date(writing.now()).toISOString();
    const given = { old: hexOf(old), new: hexOf(next), at };
    const signature = sign(null, textOf(given), old.privateKey).toString('base64');
    await appendOne(writing, factOf('key', { ...given, signature }));
    replaceKeyFile(keyFile, at);
    return next;
  });
}

/** By which key a tree of some size is to be signed: each was replaced at the place of a leaf, by one that it signed. */
export async function readSigners(port: EvidencePort, newest: Verifier): Promise<(size: number) => Verifier> {
  const signers: (readonly [place: number, signer: Verifier])[] = [];
  let signer = newest;
  for (const { kind, place, record } of (await port.leaves({ told: ALL })).toReversed()) {
    const cell = (name: string) => new RegExp(`"${name}":"([^"]*)"`).exec(record ?? '')?.[1] ?? '';
    const given = { old: cell('old'), new: cell('new'), at: cell('at') };
    if (kind !== 'key' || given.new !== hexOf(signer)) continue;
    const before = { name: newest.name, publicKey: Buffer.from(given.old, 'hex') };
    if (!isSignedBy(before, textOf(given), Buffer.from(cell('signature'), 'base64'))) continue;
    signers.unshift([place, before]);
    signer = before;
  }
  return size => signers.find(([place]) => size <= place)?.[1] ?? newest;
}

/** As docs/check.sh writes it. */
function textOf(given: { readonly old: string; readonly new: string; readonly at: string }): Buffer {
  return Buffer.from(`carbon-mirror key\n${given.old}\n${given.new}\n${given.at}\n`);
}

function hexOf({ publicKey }: Verifier): string {
  return publicKey.toString('hex');
}
