import { sign } from 'node:crypto';
import { nextKeyFile, readKeyFile, replaceKeyFile } from './key-file.js';
import { isSignedBy, type SigningKey, type Verifier } from './note.js';
import { type EvidencePort, factOf, type Leaf } from './port.js';
import { leafOf, SALT_BYTES, type Sealing, withClaim } from './seal.js';

/** A new key under the old name: a leaf says so, which the old key has signed. Killed meanwhile, it is done by doing it again. */
export async function renewKey(
  sealing: Pick<Sealing, 'port' | 'now' | 'randomBytes' | 'holder'>,
  keyFile: string,
): Promise<SigningKey> {
  const { port, now, randomBytes } = sealing;
  return await withClaim(sealing, async () => {
    const old = readKeyFile(keyFile);
    const next = nextKeyFile(keyFile, old.name);
    const at = new Date(now()).toISOString();
    const given = { old: hexOf(old), new: hexOf(next), at };
    const signature = sign(null, textOf(given), old.privateKey).toString('base64');
    const { size } = await port.ends();
    await port.append([leafOf(randomBytes(SALT_BYTES), factOf('key', { ...given, signature }), size)]);
    replaceKeyFile(keyFile, at);
    return next;
  });
}

/** By which key a tree of some size is to be signed: each was replaced at the place of a leaf, by one that it signed. */
export async function readSigners(port: EvidencePort, newest: Verifier): Promise<(size: number) => Verifier> {
  const signers: (readonly [place: number, signer: Verifier])[] = [];
  let signer = newest;
  for (const { kind, place, record } of (await port.leaves({ told: Number.MAX_SAFE_INTEGER })).toReversed()) {
    const [at, next, old, signature] = ['at', 'new', 'old', 'signature'].map(name => cellOf(record, name));
    if (kind !== 'key' || next !== hexOf(signer)) continue;
    const before = { name: newest.name, publicKey: Buffer.from(old ?? '', 'hex') };
    const text = textOf({ old: old ?? '', new: next, at: at ?? '' });
    if (!isSignedBy(before, text, Buffer.from(signature ?? '', 'base64'))) continue;
    signers.unshift([place, before]);
    signer = before;
  }
  return size => signers.find(([place]) => size <= place)?.[1] ?? newest;
}

/** As docs/check.sh writes it. */
function textOf(given: { readonly old: string; readonly new: string; readonly at: string }): Buffer {
  return Buffer.from(`carbon-mirror key\n${given.old}\n${given.new}\n${given.at}\n`);
}

function cellOf(record: Leaf['record'], name: string): string | undefined {
  return new RegExp(`"${name}":"([^"]*)"`).exec(record ?? '')?.[1];
}

function hexOf({ publicKey }: Verifier): string {
  return publicKey.toString('hex');
}
