import { sign } from 'node:crypto';
import { assertAuthentic, createCodes } from './authentication-codes.js';
import { parseLeafRecord } from './leaf.js';
import { toHex } from './hashes.js';
import { createNextKeyFile, readKeyFile, replaceKeyFile } from './key-file.js';
import { isSignedBy, type SigningKey, type Verifier } from './signing-key.js';
import { NO_LIMIT, type Cells, type EvidencePort, createObservation, type Leaf } from './port.js';
import { appendLeaf, withWriterLock, type LogWriter } from './log-writer.js';

const MAX_CODES_PER_WRITE = 5000;

/**
 * Replaces the key of a log, under the same name. A leaf that the old key has signed says so, and all leaves get new
 * authentication codes. If it is killed, it is completed by another call; until then the sealer accepts codes of both keys.
 */
export async function renewKey(writing: LogWriter, keyFile: string): Promise<SigningKey> {
  return await withWriterLock(writing, async () => {
    const next = createNextKeyFile(keyFile, readKeyFile(keyFile).name);
    const old = readKeyFile(keyFile);
    const at = new Date(writing.now()).toISOString();
    const given = { old: toHex(old.publicKey), new: toHex(next.publicKey), at };
    const signature = sign(null, formatKeyChange(given), old.privateKey).toString('base64');
    await appendLeaf(writing, createObservation('key', { ...given, signature }));
    await renewCodes(writing.port, old.codeKeys, next);
    replaceKeyFile(keyFile, at);
    return next;
  });
}

/** Writes the authentication codes of all leaves anew. Throws if this program did not write one of them. */
export async function renewCodes(
  port: EvidencePort,
  accepted: readonly Uint8Array[],
  { codeKeys: [key] }: SigningKey,
): Promise<void> {
  let codes: Pick<Leaf, 'place' | 'code' | 'plain_code'>[] = [];
  for await (const leaves of port.iterateLeaves(0, NO_LIMIT)) {
    assertAuthentic(leaves, accepted);
    for (const leaf of leaves) {
      const { code, plain_code } = createCodes(leaf, key);
      codes.push({ place: leaf.place, code, plain_code: leaf.plain_code === null ? null : plain_code });
    }
    if (codes.length < MAX_CODES_PER_WRITE) continue;
    await port.replaceCodes(codes);
    codes = [];
  }
  await port.replaceCodes(codes);
}

/** Returns which key must have signed a tree of some size. Each key was replaced at the place of a leaf that it signed. */
export async function readSigners(port: EvidencePort, newest: Verifier): Promise<(size: number) => Verifier> {
  const signers: (readonly [place: number, signer: Verifier])[] = [];
  let signer = newest;
  for (const leaf of (await port.listLeaves({ aboutLogBefore: NO_LIMIT })).toReversed()) {
    const record = parseLeafRecord(leaf);
    if (leaf.kind !== 'key' || record['new'] !== toHex(signer.publicKey)) continue;
    const before = { name: newest.name, publicKey: Buffer.from(String(record['old']), 'hex') };
    if (!isSignedBy(before, formatKeyChange(record), Buffer.from(String(record['signature']), 'base64')))
      continue;
    signers.unshift([leaf.place, before]);
    signer = before;
  }
  return size => signers.find(([place]) => size <= place)?.[1] ?? newest;
}

/** Returns the text that the old key signs, as docs/evidence-format.md describes it. */
function formatKeyChange({ old, new: next, at }: Cells): Buffer {
  return Buffer.from(`carbon-mirror key\n${old}\n${next}\n${at}\n`);
}
