import { sign } from 'node:crypto';
import { assertAuthentic, createAuthenticationCodes } from './authentication-codes.js';
import { parseLeafRecord } from './leaf.js';
import { toHex } from './hashes.js';
import { createNextKeyFile, readKeyFile, replaceKeyFile } from './key-file.js';
import { isSignedBy, type SigningKey, type Verifier } from './signing-key.js';
import { NO_LIMIT, type LeafRecord, type EvidencePort, createLeafInput, type Leaf } from './port.js';
import { appendLeaf, withWriterLock, type LogWriter } from './log-writer.js';

const MAX_CODES_PER_WRITE = 5000;

/**
 * Replaces the signing key of a log by a new one with the same name, and returns the new key. Appends a leaf with both public
 * keys, signed by the old key, and gives all leaves new authentication codes. If the process is killed meanwhile, another call
 * completes the work; until then the sealer accepts codes of both keys. Waits for the writer lock.
 */
export async function renewKey(writer: LogWriter, keyFile: string): Promise<SigningKey> {
  return await withWriterLock(writer, async () => {
    const next = createNextKeyFile(keyFile, readKeyFile(keyFile).name);
    const old = readKeyFile(keyFile);
    const at = new Date(writer.now()).toISOString();
    const keyChange = { old: toHex(old.publicKey), new: toHex(next.publicKey), at };
    const signature = sign(null, formatKeyChange(keyChange), old.privateKey).toString('base64');
    await appendLeaf(writer, createLeafInput('key', { ...keyChange, signature }));
    await renewCodes(writer.port, old.codeKeys, next);
    replaceKeyFile(keyFile, at);
    return next;
  });
}

/**
 * Replaces the authentication codes of all leaves by codes of a key. Throws an EvidenceError for a leaf whose codes are not valid
 * under one of `acceptedKeys`.
 */
export async function renewCodes(
  port: EvidencePort,
  acceptedKeys: readonly Uint8Array[],
  { codeKeys: [key] }: SigningKey,
): Promise<void> {
  let codes: Pick<Leaf, 'place' | 'code' | 'plain_code'>[] = [];
  for await (const leaves of port.iterateLeaves(0, NO_LIMIT)) {
    assertAuthentic(leaves, acceptedKeys);
    for (const leaf of leaves) {
      const { code, plain_code } = createAuthenticationCodes(leaf, key);
      codes.push({ place: leaf.place, code, plain_code: leaf.plain_code === null ? null : plain_code });
    }
    if (codes.length < MAX_CODES_PER_WRITE) continue;
    await port.replaceCodes(codes);
    codes = [];
  }
  await port.replaceCodes(codes);
}

/**
 * Reads from the log which keys signed it. Returns a function from a tree size to the key that must have signed the checkpoint of that
 * size. `newest` is the current key. A leaf about a new key is ignored unless the old key signed it.
 */
export async function readSigners(port: EvidencePort, newest: Verifier): Promise<(size: number) => Verifier> {
  const signers: (readonly [leafIndex: number, signer: Verifier])[] = [];
  let signer = newest;
  for (const leaf of (await port.listLeaves({ logEventsBefore: NO_LIMIT })).toReversed()) {
    const record = parseLeafRecord(leaf);
    if (leaf.kind !== 'key' || record['new'] !== toHex(signer.publicKey)) continue;
    const before = { name: newest.name, publicKey: Buffer.from(String(record['old']), 'hex') };
    if (!isSignedBy(before, formatKeyChange(record), Buffer.from(String(record['signature']), 'base64')))
      continue;
    signers.unshift([leaf.place, before]);
    signer = before;
  }
  return size => signers.find(([leafIndex]) => size <= leafIndex)?.[1] ?? newest;
}

/** Returns the text with which the old key signs its replacement, as docs/evidence-format.md describes it. */
function formatKeyChange({ old, new: next, at }: LeafRecord): Buffer {
  return Buffer.from(`carbon-mirror key\n${old}\n${next}\n${at}\n`);
}
